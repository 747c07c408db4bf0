"""Trains the demo model on the CPU; the same command continues after a stop.

    python3 train.py --work-dir .work --minutes 82

Every worker process computes on one thread and takes the next row of the step as soon as it is
free: this is much faster than two threads in one process, above all when the machine is shared.

The schedule (warm-up, constant, linear decay; short rows, then mixed with rows of 2,048) follows either the
clock (--minutes of training time, kept in the checkpoint) or, to repeat a run, --steps.
Hidden matrices use Muon, embeddings and norms use Adam.
"""
import argparse
import json
import os
import time

import numpy as np
import torch
import torch.multiprocessing as mp
import torch.nn.functional as F

from model import Config, Llama
from tokenizer import Tokenizer

SEED = 7
MUON_LR, ADAM_LR = 0.02, 0.004
WARMUP_STEPS = 40
DECAY_FROM, LONG_FROM = 0.36, 0.84  # shares of the run
LONG_EVERY = 3  # after LONG_FROM, every third step takes rows of 2,048
SHORT_ROWS, LONG_ROWS = 8, 4  # rows in a step: 4,096 and 8,192 tokens


def orthogonal(g, steps=5):
    """Newton-Schulz iteration towards the nearest semi-orthogonal matrix (Muon)."""
    x = g / (g.norm() + 1e-7)
    flip = x.shape[0] > x.shape[1]
    if flip:
        x = x.T
    for _ in range(steps):
        y = x @ x.T
        x = 3.4445 * x + (-4.7750 * y + 2.0315 * (y @ y)) @ x
    return x.T if flip else x


def muon_step(p, grad, m, lr, momentum=0.95):
    m.lerp_(grad, 1 - momentum)
    g = orthogonal(grad.lerp(m, momentum))
    p.mul_(1 - lr * 0.01)
    p.add_(g, alpha=-lr * max(1, p.shape[0] / p.shape[1]) ** 0.5)


def adam_step(p, grad, m, v, lr, step, betas=(0.9, 0.95)):
    m.lerp_(grad, 1 - betas[0])
    v.mul_(betas[1]).addcmul_(grad, grad, value=1 - betas[1])
    scale = lr / (1 - betas[0] ** step)
    p.addcdiv_(m, (v / (1 - betas[1] ** step)).sqrt().add_(1e-8), value=-scale)


class Rows:
    """Endless rows of one packed file, in an order that depends on the seed alone."""

    def __init__(self, path):
        data = np.load(path)
        self.ids, self.weights = data["ids"], data["weights"]

    def batch(self, index, count):
        at = [(index + i) % len(self.ids) for i in range(count)]
        ids = torch.from_numpy(self.ids[at].astype(np.int64))
        w = torch.from_numpy(self.weights[at].astype(np.float32)) / 10
        labels = ids[:, 1:].clone()
        labels[w[:, 1:] == 0] = -1
        return ids[:, :-1], labels, w[:, 1:]


def factor(progress, step):
    if step < WARMUP_STEPS:
        return (step + 1) / WARMUP_STEPS
    if progress < DECAY_FROM:
        return 1.0
    return max(0.02, 1 - (progress - DECAY_FROM) / (1 - DECAY_FROM))


class Run:
    """What all workers share: weights, gradients and optimizer state lie in shared memory."""

    def __init__(self, args):
        work = args.work_dir
        self.tok = Tokenizer(os.path.join(work, "tokenizer.json"))
        self.cfg = Config(vocab_size=self.tok.size, num_hidden_layers=args.layers)
        self.model = Llama(self.cfg, seed=SEED).share_memory()
        self.params = dict(self.model.named_parameters())
        shared = lambda: {n: torch.zeros_like(p, requires_grad=False).share_memory_() for n, p in self.params.items()}
        self.m, self.v = shared(), shared()
        self.grads = [shared() for _ in range(args.workers)]
        self.losses = torch.zeros(args.workers, dtype=torch.float64).share_memory_()
        self.job = torch.zeros(4, dtype=torch.float64).share_memory_()  # long?, first row, factor, step
        self.next_row = mp.Value("i", 0)
        self.barrier = mp.Barrier(args.workers)
        self.short, self.long = (Rows(os.path.join(work, f"train-{n}.npz")) for n in (512, 2048))
        # The optimizer's work, shared out evenly by size.
        order = sorted(self.params, key=lambda n: -self.params[n].numel())
        self.share = [order[r::args.workers] for r in range(args.workers)]
        self.path = os.path.join(work, "checkpoint.pt")
        self.state = {"step": 0, "tokens": 0, "seconds": 0.0, "short": 0, "long": 0, "events": []}
        if os.path.exists(self.path):
            saved = torch.load(self.path, map_location="cpu")
            with torch.no_grad():
                for n, p in self.params.items():
                    p.copy_(saved["model"][n])
                    self.m[n].copy_(saved["m"][n])
                    self.v[n].copy_(saved["v"][n])
            self.state = saved["state"]
            print(f"continuing at step {self.state['step']}", flush=True)

    def save(self):
        torch.save({"model": self.model.state_dict(), "m": self.m, "v": self.v, "state": self.state,
                    "config": self.cfg.to_dict()}, self.path + ".tmp")
        os.replace(self.path + ".tmp", self.path)

    def work(self, rank):
        """One step of one worker, between the orchestrator's barriers."""
        self.barrier.wait()
        is_long, first, f, step = self.job.tolist()
        rows, count = (self.long, LONG_ROWS) if is_long else (self.short, SHORT_ROWS)
        total = float(rows.batch(int(first), count)[2].sum())
        self.model.zero_grad(set_to_none=True)
        loss_sum = 0.0
        while True:
            with self.next_row.get_lock():
                i = self.next_row.value
                self.next_row.value += 1
            if i >= count:
                break
            ids, labels, w = rows.batch(int(first) + i, 1)
            keep = labels.reshape(-1) >= 0
            h = self.model(ids).reshape(-1, self.cfg.hidden_size)[keep]
            each = F.cross_entropy(F.linear(h, self.model.embed_tokens.weight), labels.reshape(-1)[keep], reduction="none")
            loss = (each * w.reshape(-1)[keep]).sum() / total
            loss.backward()
            loss_sum += float(loss)
        mine = self.grads[rank]
        for n, p in self.params.items():
            mine[n].zero_() if p.grad is None else mine[n].copy_(p.grad)
        self.losses[rank] = loss_sum
        self.barrier.wait()
        with torch.no_grad():
            for n in self.share[rank]:
                p = self.params[n]
                g = sum((other[n] for other in self.grads[1:]), self.grads[0][n])
                if p.dim() == 2 and "embed" not in n:
                    muon_step(p, g, self.m[n], MUON_LR * f)
                else:
                    adam_step(p, g, self.m[n], self.v[n], ADAM_LR * f, int(step) + 1)
        self.barrier.wait()


def follower(run, rank):
    torch.set_num_threads(1)
    while True:
        run.work(rank)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(os.path.dirname(os.path.abspath(__file__)), ".work"))
    ap.add_argument("--minutes", type=float, default=82)
    ap.add_argument("--steps", type=int, help="a fixed number of steps instead of minutes")
    ap.add_argument("--layers", type=int, default=4)
    ap.add_argument("--workers", type=int, default=2, help="processes of one thread each")
    ap.add_argument("--save-seconds", type=float, default=150)
    args = ap.parse_args()
    torch.set_num_threads(1)
    run = Run(args)
    state = run.state
    check = Rows(os.path.join(args.work_dir, "held-out-512.npz")).batch(0, 24)
    for rank in range(1, args.workers):
        mp.get_context("fork").Process(target=follower, args=(run, rank), daemon=True).start()
    last, last_save, shown, recent = time.time(), time.time(), [], (state["tokens"], state["seconds"])
    while True:
        progress = state["step"] / args.steps if args.steps else state["seconds"] / (args.minutes * 60)
        if progress >= 1:
            break
        is_long = progress >= LONG_FROM and state["step"] % LONG_EVERY == 0
        for share, name in ((DECAY_FROM, "decay"), (LONG_FROM, "long rows")):
            if progress >= share and name not in [e[0] for e in state["events"]]:
                state["events"].append((name, state["step"]))
                print(f"step {state['step']}: {name}", flush=True)
        f = factor(progress, state["step"])
        rows, key, count = (run.long, "long", LONG_ROWS) if is_long else (run.short, "short", SHORT_ROWS)
        run.job.copy_(torch.tensor([is_long, state[key], f, state["step"]], dtype=torch.float64))
        run.next_row.value = 0
        run.work(0)
        shown.append(float(run.losses.sum()))
        state["step"] += 1
        state["tokens"] += int((rows.batch(state[key], count)[1] >= 0).sum())
        state[key] += count
        now = time.time()
        state["seconds"] += now - last
        last = now
        if state["step"] % 20 == 0:
            speed = (state["tokens"] - recent[0]) / (state["seconds"] - recent[1])
            recent = (state["tokens"], state["seconds"])
            print(f"step {state['step']} tokens {state['tokens']} loss {sum(shown) / len(shown):.4f} lr {f:.3f} "
                  f"{speed:.0f} tokens/s {state['seconds'] / 60:.1f} min", flush=True)
            shown = []
        if state["step"] % 200 == 0:
            with torch.no_grad():
                print(f"step {state['step']} held-out loss {float(run.model.loss(*check[:2])):.4f}", flush=True)
        if now - last_save > args.save_seconds:
            run.save()
            last_save = now
    run.save()
    with open(os.path.join(args.work_dir, "training.json"), "w") as out:
        json.dump(state, out, indent=1)
    print(f"finished at step {state['step']}, {state['tokens']} tokens", flush=True)


if __name__ == "__main__":
    main()
