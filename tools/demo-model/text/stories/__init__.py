"""Stories, poems and haikus."""
