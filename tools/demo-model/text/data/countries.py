"""The countries of the world: capital, continent, and for some the language and the money.

Common knowledge, written down for this project. Where a country has several capitals, the seat that most
lists name comes first and `NOTES` says the rest.
"""

_BY_CONTINENT = {
    "Europe": "Albania:Tirana Andorra:Andorra_la_Vella Austria:Vienna Belarus:Minsk Belgium:Brussels "
              "Bosnia_and_Herzegovina:Sarajevo Bulgaria:Sofia Croatia:Zagreb Cyprus:Nicosia Czechia:Prague Denmark:Copenhagen "
              "Estonia:Tallinn Finland:Helsinki France:Paris Germany:Berlin Greece:Athens Hungary:Budapest Iceland:Reykjavik "
              "Ireland:Dublin Italy:Rome Kosovo:Pristina Latvia:Riga Liechtenstein:Vaduz Lithuania:Vilnius "
              "Luxembourg:Luxembourg Malta:Valletta Moldova:Chisinau Monaco:Monaco Montenegro:Podgorica "
              "the_Netherlands:Amsterdam North_Macedonia:Skopje Norway:Oslo Poland:Warsaw Portugal:Lisbon Romania:Bucharest "
              "Russia:Moscow San_Marino:San_Marino Serbia:Belgrade Slovakia:Bratislava Slovenia:Ljubljana Spain:Madrid "
              "Sweden:Stockholm Switzerland:Bern Ukraine:Kyiv the_United_Kingdom:London Vatican_City:Vatican_City",
    "Asia": "Afghanistan:Kabul Armenia:Yerevan Azerbaijan:Baku Bahrain:Manama Bangladesh:Dhaka Bhutan:Thimphu "
            "Brunei:Bandar_Seri_Begawan Cambodia:Phnom_Penh China:Beijing Georgia:Tbilisi India:New_Delhi Indonesia:Jakarta "
            "Iran:Tehran Iraq:Baghdad Israel:Jerusalem Japan:Tokyo Jordan:Amman Kazakhstan:Astana Kuwait:Kuwait_City "
            "Kyrgyzstan:Bishkek Laos:Vientiane Lebanon:Beirut Malaysia:Kuala_Lumpur the_Maldives:Malé Mongolia:Ulaanbaatar "
            "Myanmar:Naypyidaw Nepal:Kathmandu North_Korea:Pyongyang Oman:Muscat Pakistan:Islamabad Palestine:Ramallah "
            "the_Philippines:Manila Qatar:Doha Saudi_Arabia:Riyadh Singapore:Singapore South_Korea:Seoul "
            "Sri_Lanka:Sri_Jayawardenepura_Kotte Syria:Damascus Taiwan:Taipei Tajikistan:Dushanbe Thailand:Bangkok "
            "Timor-Leste:Dili Turkey:Ankara Turkmenistan:Ashgabat the_United_Arab_Emirates:Abu_Dhabi Uzbekistan:Tashkent "
            "Vietnam:Hanoi Yemen:Sanaa",
    "Africa": "Algeria:Algiers Angola:Luanda Benin:Porto-Novo Botswana:Gaborone Burkina_Faso:Ouagadougou Burundi:Gitega "
              "Cameroon:Yaoundé Cape_Verde:Praia the_Central_African_Republic:Bangui Chad:N'Djamena the_Comoros:Moroni "
              "the_Democratic_Republic_of_the_Congo:Kinshasa the_Republic_of_the_Congo:Brazzaville Djibouti:Djibouti Egypt:Cairo "
              "Equatorial_Guinea:Malabo Eritrea:Asmara Eswatini:Mbabane Ethiopia:Addis_Ababa Gabon:Libreville the_Gambia:Banjul "
              "Ghana:Accra Guinea:Conakry Guinea-Bissau:Bissau the_Ivory_Coast:Yamoussoukro Kenya:Nairobi Lesotho:Maseru "
              "Liberia:Monrovia Libya:Tripoli Madagascar:Antananarivo Malawi:Lilongwe Mali:Bamako Mauritania:Nouakchott "
              "Mauritius:Port_Louis Morocco:Rabat Mozambique:Maputo Namibia:Windhoek Niger:Niamey Nigeria:Abuja Rwanda:Kigali "
              "São_Tomé_and_Príncipe:São_Tomé Senegal:Dakar the_Seychelles:Victoria Sierra_Leone:Freetown Somalia:Mogadishu "
              "South_Africa:Pretoria South_Sudan:Juba Sudan:Khartoum Tanzania:Dodoma Togo:Lomé Tunisia:Tunis Uganda:Kampala "
              "Zambia:Lusaka Zimbabwe:Harare",
    "North America": "Antigua_and_Barbuda:Saint_John's the_Bahamas:Nassau Barbados:Bridgetown Belize:Belmopan Canada:Ottawa "
                     "Costa_Rica:San_José Cuba:Havana Dominica:Roseau the_Dominican_Republic:Santo_Domingo "
                     "El_Salvador:San_Salvador Grenada:Saint_George's Guatemala:Guatemala_City Haiti:Port-au-Prince "
                     "Honduras:Tegucigalpa Jamaica:Kingston Mexico:Mexico_City Nicaragua:Managua Panama:Panama_City "
                     "Saint_Kitts_and_Nevis:Basseterre Saint_Lucia:Castries Saint_Vincent_and_the_Grenadines:Kingstown "
                     "Trinidad_and_Tobago:Port_of_Spain the_United_States:Washington,_D.C.",
    "South America": "Argentina:Buenos_Aires Bolivia:Sucre Brazil:Brasília Chile:Santiago Colombia:Bogotá Ecuador:Quito "
                     "Guyana:Georgetown Paraguay:Asunción Peru:Lima Suriname:Paramaribo Uruguay:Montevideo Venezuela:Caracas",
    "Oceania": "Australia:Canberra Fiji:Suva Kiribati:South_Tarawa the_Marshall_Islands:Majuro Micronesia:Palikir Nauru:Yaren "
               "New_Zealand:Wellington Palau:Ngerulmud Papua_New_Guinea:Port_Moresby Samoa:Apia the_Solomon_Islands:Honiara "
               "Tonga:Nukuʻalofa Tuvalu:Funafuti Vanuatu:Port_Vila",
}
CAPITAL, CONTINENT = {}, {}
for _continent, _rows in _BY_CONTINENT.items():
    for _row in _rows.split():
        _name, _capital = _row.replace("_", " ").split(":")
        CAPITAL[_name], CONTINENT[_name] = _capital, _continent
COUNTRY_OF = {c: n for n, c in CAPITAL.items()}
# What people call a country besides its name above.
ALSO = {
    "the United States": ["the USA", "USA", "the US", "America", "United States", "the U.S.", "the United States of America"],
    "the United Kingdom": ["the UK", "UK", "England", "Great Britain", "Britain", "United Kingdom"],
    "the Netherlands": ["Netherlands", "Holland"], "Czechia": ["the Czech Republic"], "South Korea": ["Korea"],
    "the United Arab Emirates": ["the UAE", "UAE"], "the Ivory Coast": ["Côte d'Ivoire", "Ivory Coast"], "Myanmar": ["Burma"],
    "the Philippines": ["Philippines"], "the Democratic Republic of the Congo": ["the DR Congo", "DR Congo", "Congo"],
    "Turkey": ["Türkiye"], "Eswatini": ["Swaziland"], "Timor-Leste": ["East Timor"], "Cape Verde": ["Cabo Verde"],
    "the Bahamas": ["Bahamas"], "the Gambia": ["Gambia"], "the Maldives": ["Maldives"], "Brazil": ["brasil"],
}
NOTES = {
    "South Africa": "Pretoria is the seat of the government; Cape Town and Bloemfontein are capitals too.",
    "Bolivia": "Sucre is the capital by law; the government sits in La Paz.",
    "the Netherlands": "Amsterdam is the capital; the government sits in The Hague.",
}
# The countries that newcomers ask for most; they come up more often.
FAMOUS = ("France Germany Italy Spain Japan China India Australia Canada Brazil Russia Egypt Greece Portugal Austria Switzerland "
          "Sweden Norway Denmark Finland Poland Ireland Belgium Turkey Mexico Argentina Peru Chile Kenya Nigeria Thailand Vietnam "
          "Indonesia Iceland Hungary Ukraine Cuba Colombia Morocco Iran Iraq Israel Pakistan Mongolia Nepal").split() + [
              "the United States", "the United Kingdom", "the Netherlands", "South Korea", "New Zealand", "South Africa", "Saudi Arabia"]
LANGUAGE = dict(p.split(":") for p in (
    "France:French Germany:German Italy:Italian Spain:Spanish Japan:Japanese China:Chinese Brazil:Portuguese Russia:Russian "
    "Egypt:Arabic Greece:Greek Portugal:Portuguese Austria:German Sweden:Swedish Norway:Norwegian Denmark:Danish Poland:Polish "
    "Turkey:Turkish Mexico:Spanish Argentina:Spanish Peru:Spanish Chile:Spanish Thailand:Thai Vietnam:Vietnamese Iceland:Icelandic "
    "Hungary:Hungarian Ukraine:Ukrainian Cuba:Spanish Colombia:Spanish Iran:Persian Australia:English Romania:Romanian "
    "Bulgaria:Bulgarian Mongolia:Mongolian Nepal:Nepali Indonesia:Indonesian").split())
MONEY = dict(p.split(":") for p in (
    "France:euro|Germany:euro|Italy:euro|Spain:euro|Japan:yen|China:yuan|India:rupee|Australia:Australian dollar|Canada:Canadian dollar|"
    "Brazil:real|Russia:ruble|Egypt:Egyptian pound|Greece:euro|Portugal:euro|Austria:euro|Switzerland:Swiss franc|"
    "Sweden:Swedish krona|Norway:Norwegian krone|Denmark:Danish krone|Poland:zloty|Ireland:euro|Turkey:lira|Mexico:peso|"
    "the United States:US dollar|the United Kingdom:pound sterling|South Korea:won|Thailand:baht|Hungary:forint").split("|"))
# Cities that people take for a capital, and places that have none.
NOT_CAPITAL = {"Sydney": "Australia", "Melbourne": "Australia", "New York": "the United States", "Los Angeles": "the United States",
               "Toronto": "Canada", "Istanbul": "Turkey", "Rio de Janeiro": "Brazil", "São Paulo": "Brazil", "Zurich": "Switzerland",
               "Geneva": "Switzerland", "Barcelona": "Spain", "Milan": "Italy", "Munich": "Germany", "Shanghai": "China",
               "Mumbai": "India", "Auckland": "New Zealand", "Lagos": "Nigeria", "Casablanca": "Morocco", "Karachi": "Pakistan",
               "Saint Petersburg": "Russia", "Venice": "Italy", "Hamburg": "Germany", "Johannesburg": "South Africa",
               "Dubai": "the United Arab Emirates", "Glasgow": "the United Kingdom", "Chicago": "the United States", "Lyon": "France",
               "Marseille": "France", "Naples": "Italy", "Osaka": "Japan", "Hong Kong": "China", "Antwerp": "Belgium"}


def verb(name):
    """is or are, by the name of a country."""
    many = ("the Bahamas", "the Comoros", "the Maldives", "the Marshall Islands", "the Netherlands", "the Philippines", "the Seychelles",
        "the Solomon Islands", "the United Arab Emirates")
    return "are" if name in many else "is"
