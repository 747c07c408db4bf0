"""Writes what a correct beam search must reproduce: beams.json in test/model/reference/demo.

    python3 -m evaluation.beams [--model .work/export] [--out ../../test/model/reference/demo]

Beam search after Hugging Face with length_penalty 1.0, early_stopping False and do_sample False,
written over tensors that hold all beams at once, with padding scores of -1e9 where there is no beam
yet. No cache: each step computes whole sequences, so that nothing can be mixed up between beams.
The stored weights in float32, one thread. "gap" is how close the search came to another course:
the least difference between two scores of which one was taken and the other not, a score per token
where finished texts were compared.
"""
import argparse
import json
import os

import torch
import torch.nn.functional as F

from training.weights import ROOT, SHIPPED, load

NEVER = -1.0e9
TEXTS = ["Once upon a time", "One rainy day, Mira", "Question: What is 3 + 4?\nAnswer:", "1, 2, 3, 4, 5,", "Hello",
         "Nora was a brave girl who", "The capital of France is", "\"Do not cry,\" said"]
CHATS = ["Hello!", "What is 7 + 5?", "Is the earth flat?", "Name five animals."]


def margin(scores, kept):
    """Difference between the worst of the kept best and the best that is not kept."""
    ordered = torch.sort(scores, descending=True).values
    if kept >= len(ordered) or ordered[kept] < NEVER / 2:
        return float("inf")
    return float(ordered[kept - 1] - ordered[kept])


@torch.no_grad()
def beam_search(model, prompt, beams, count, stops, penalty):
    """(token ids of the best, its score per token, gap)."""
    prompt = torch.tensor(prompt)
    running = torch.empty(beams, 0, dtype=torch.long)
    running_scores = torch.tensor([0.0] + [NEVER] * (beams - 1))
    finished = [([], NEVER)] * beams
    gap = float("inf")
    for length in range(1, count + 1):
        ids = torch.cat([prompt.expand(beams, -1), running], 1)
        logits = F.linear(model(ids)[:, -1], model.embed_tokens.weight)
        log_probs = torch.log_softmax(logits, -1)
        if penalty != 1.0:
            seen = torch.gather(log_probs, 1, ids)
            seen = torch.where(seen < 0, seen * penalty, seen / penalty)
            log_probs = log_probs.scatter(1, ids, seen)
        every = (log_probs + running_scores[:, None]).reshape(-1)
        scores, flat = torch.topk(every, 2 * beams)
        parents, tokens = flat // log_probs.shape[1], flat % log_probs.shape[1]
        sequences = torch.cat([running[parents], tokens[:, None]], 1)
        ends = torch.isin(tokens, torch.tensor(stops)) | torch.tensor(length == count)
        gap = min(gap, margin(every, 2 * beams), margin(every, beams))
        going_on = scores + ends * NEVER
        gap = min(gap, margin(going_on, beams))
        running_scores, chosen = torch.topk(going_on, beams)
        running = sequences[chosen]
        for rank in range(beams):
            if ends[rank]:
                finished.append((sequences[rank].tolist(), float(scores[rank]) / length))
        finished = sorted(finished, key=lambda item: -item[1])
        gap = min(gap, margin(torch.tensor([score for _, score in finished]), beams))
        finished = finished[:beams]
        worst = finished[-1][1]
        likeliest = float(running_scores[0]) / length
        if worst > NEVER / 2:
            gap = min(gap, abs(likeliest - worst))
        if bool(ends.all()) or (worst > NEVER / 2 and likeliest <= worst):
            break
    best, second = finished[0], finished[1]
    return best[0], best[1], min(gap, best[1] - second[1])


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--model", default=SHIPPED)
    ap.add_argument("--out", default=os.path.join(ROOT, "..", "..", "test", "model", "reference", "demo"))
    args = ap.parse_args()
    torch.set_num_threads(1)
    model, tok = load(args.model)
    prompts = [tok.encode(text) for text in TEXTS]
    prompts += [tok.chat([{"role": "user", "content": text}]) for text in CHATS]
    stops, cases = (tok.stop, tok.end), []
    for i, prompt in enumerate(prompts):
        for beams in (2, 3, 4, 5, 6, 7, 8):
            penalty = 1.3 if (i + beams) % 4 == 0 else 1.0
            count = (24, 12, 40)[(i + beams) % 3]
            ids, score, gap = beam_search(model, prompt, beams, count, stops, penalty)
            cases.append({"prompt_token_ids": prompt, "num_beams": beams, "max_new_tokens": count,
                          "repetition_penalty": penalty, "token_ids": ids, "score": round(score, 6),
                          "gap": float(f"{gap:.3g}"), "continuation": tok.decode(ids)})
    with open(os.path.join(args.out, "beams.json"), "w", encoding="utf-8") as f:
        about = ("Beam searches (length_penalty 1.0, early_stopping False, do_sample False) from the stored weights "
                 "in float32. score: log-probability per token. gap: least difference between a score that was taken and "
                 "one that was not.")
        f.write(json.dumps({"about": about, "eos_token_ids": stops})[:-1] + ', "cases": [\n')
        f.write(",\n".join(json.dumps(case, ensure_ascii=False, separators=(",", ":")) for case in cases) + "\n]}\n")
    small = sorted(case["gap"] for case in cases)
    ended = sum(case["token_ids"][-1] in stops for case in cases)
    print(f"{len(cases)} searches, {ended} ended by themselves, smallest gaps {small[:6]}")


if __name__ == "__main__":
    main()
