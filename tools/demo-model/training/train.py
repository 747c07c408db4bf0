"""Trains the demo model, on a GPU where PyTorch finds one, else on the CPU; the same command continues after a stop.

    python3 -m training.train --work-dir .work --minutes 600
    python3 -m training.train --work-dir .work --steps 6000 --rows 128        # a fixed number of steps of 128 rows

The schedule (warm-up, constant, linear decay; rows of 1,024, then every few steps rows of 4,096) follows the clock
(minutes of training, kept in the checkpoint) or the number of steps. Where the text has been used up it begins
again in another order. Hidden matrices use Muon, embeddings and norms use Adam. Weights and optimizer are in 32
bits; the computation is in bfloat16 where the processor has it.

On a CPU every worker is a process that computes on one thread and takes the next rows of the step as soon as it is
free: much faster than several threads in one process where the machine is shared.
"""
import argparse
import ctypes
import json
import os
import re
import signal
import sys
import time

import numpy as np
import torch
import torch.multiprocessing as mp

from training.corpus import BEGIN
from training.model import Config, Llama, documents_of
from training.prime import prime
from training.tokenizer import Tokenizer, twins
from training.weights import ROOT

SEED = 7
MUON_LR, WEIGHT_DECAY = 0.02, 0.1
ADAM_LR = {"embed_tokens.weight": 0.03, "norm.weight": 0.0004}  # of the norms in the layers 0.004
TWINS = 0.02  # how much nearer a step brings the embeddings of a word with and without the space before it
WARMUP_STEPS = 60
DECAY_FROM, LONG_FROM = 0.12, 0.35  # shares of the run
LONG_EVERY = 12  # after LONG_FROM, every twelfth step takes rows of 4,096
SHORT, LONG = 1024, 4096


def orthogonal(g, steps=5):
    """Newton-Schulz iteration towards the nearest semi-orthogonal matrices (Muon), for a stack of them."""
    x = g.bfloat16()
    x = x / (x.norm(dim=(-2, -1), keepdim=True) + 1e-7)
    flip = x.shape[-2] > x.shape[-1]
    if flip:
        x = x.mT
    for _ in range(steps):
        y = x @ x.mT
        x = 3.4445 * x + (-4.7750 * y + 2.0315 * (y @ y)) @ x
    return (x.mT if flip else x).float()


class Optimizer:
    """Muon for the matrices of the layers, stacked by shape; Adam for the embeddings and the norms. shares: among how many it is divided.

    pairs: entries that are one word without and with the space before it, [(id, id)]. What one of them learns the other shall know: each
    step draws them together up to a difference that is the same for all, the space."""

    def __init__(self, params, shares, pairs):
        self.params, self.shares, self.pairs = params, shares, torch.tensor(pairs, dtype=torch.long).reshape(-1, 2)
        self.m = {n: torch.zeros_like(p, requires_grad=False) for n, p in params.items()}
        self.v = {n: torch.zeros_like(p, requires_grad=False) for n, p in params.items() if not self.is_muon(n, p)}
        self.stacks = {}
        for n, p in params.items():
            if self.is_muon(n, p):
                self.stacks.setdefault(tuple(p.shape), []).append(n)

    def share_memory(self):
        for x in [*self.m.values(), *self.v.values()]:
            x.share_memory_()

    @staticmethod
    def is_muon(name, p):
        return p.dim() == 2 and "embed" not in name

    @torch.no_grad()
    def step(self, number, factor, share=0, momentum=0.95, betas=(0.9, 0.95)):
        for shape, names in self.stacks.items():
            names, lr, grads = names[share::self.shares], MUON_LR * factor, []
            for n in names:
                g = self.params[n].grad
                self.m[n].lerp_(g, 1 - momentum)
                grads.append(g.lerp(self.m[n], momentum))
            for n, g in zip(names, orthogonal(torch.stack(grads))):
                self.params[n].mul_(1 - lr * WEIGHT_DECAY).add_(g, alpha=-lr * max(1, shape[0] / shape[1]) ** 0.5)
        for n, v in list(self.v.items())[share::self.shares]:
            p, m, g = self.params[n], self.m[n], self.params[n].grad
            m.lerp_(g, 1 - betas[0])
            v.mul_(betas[1]).addcmul_(g, g, value=1 - betas[1])
            p.addcdiv_(m, (v / (1 - betas[1] ** number)).sqrt().add_(1e-8), value=-ADAM_LR.get(n, 0.004) * factor / (1 - betas[0] ** number))
            if n == "embed_tokens.weight":
                without, after = self.pairs.to(p.device).T
                apart = p[after] - p[without]
                apart = (apart - apart.mean(0)) * (TWINS * factor / 2)
                p[after] -= apart
                p[without] += apart


class Rows:
    """Endless rows of one packed file, in an order that depends on the seed alone."""

    def __init__(self, work, name, device):
        self.ids, self.marks = (np.load(os.path.join(work, f"{name}.{kind}.npy"), mmap_mode="r") for kind in ("ids", "marks"))
        self.device, self.epoch, self.order = device, -1, None

    def batch(self, index, count):
        """(ids, labels, weights, where documents begin), all (count, length)."""
        take = []
        for i in range(index, index + count):
            epoch, at = divmod(i, len(self.ids))
            if epoch != self.epoch:
                self.epoch, self.order = epoch, np.random.default_rng([SEED, epoch]).permutation(len(self.ids))
            take.append(self.order[at])
        take = np.sort(np.array(take))
        ids = torch.from_numpy(self.ids[take].astype(np.int32))
        marks = torch.from_numpy(self.marks[take])
        if self.device.type == "cuda":
            ids, marks = (x.pin_memory().to(self.device, non_blocking=True) for x in (ids, marks))
        ids = ids.long()
        begins = marks >= BEGIN
        weights = (marks & (BEGIN - 1)).float() / 10
        return ids[:, :-1], ids[:, 1:], weights[:, 1:], begins[:, :-1]


def factor(progress, step, peak):
    """Share of the learning rate."""
    if step < WARMUP_STEPS:
        return peak * (step + 1) / WARMUP_STEPS
    if progress < DECAY_FROM:
        return peak
    return max(0.02, peak * (1 - (progress - DECAY_FROM) / (1 - DECAY_FROM)))


def source_of(name, layers):
    """Which weight of a model with so many layers this one begins as, and whether its layer is added. What is added begins with
    the weights of the layers behind the first but writes nothing yet, so that a deeper model begins as the same function."""
    number = re.match(r"layers\.(\d+)", name)
    if number is None or int(number[1]) < layers:
        return name, False
    return f"layers.{1 + (int(number[1]) - layers) % (layers - 1)}{name[number.end():]}", True


class Run:
    def __init__(self, args):
        self.args = args
        self.device = torch.device(args.device or ("cuda" if torch.cuda.is_available() else "cpu"))
        gpu = self.device.type == "cuda"
        self.workers, self.followers = 1 if gpu else args.workers, []
        if not gpu:
            torch.set_num_threads(1)
        torch.set_float32_matmul_precision("high")
        self.way = "mask" if gpu else "slices"
        self.rows = args.rows or (128 if gpu else 8)
        self.part = args.part or (32 if gpu else 1)  # rows of 1,024 computed at once
        half = torch.bfloat16 if not gpu or torch.cuda.is_bf16_supported() else torch.float16
        if not gpu and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            half = None
        self.half = None if args.full_precision else half
        self.tok = Tokenizer(os.path.join(args.work_dir, "tokenizer.json"))
        self.cfg = Config(vocab_size=self.tok.size, num_hidden_layers=args.layers)
        self.model = prime(Llama(self.cfg, seed=SEED)).to(self.device)
        self.params = dict(self.model.named_parameters())
        self.optimizer = Optimizer(self.params, self.workers, twins(self.tok))
        self.scaler = 4096.0 if self.half == torch.float16 else 1.0
        self.loss_sum = torch.compile(self.model.loss_sum) if args.compile else self.model.loss_sum
        self.short, self.long = (Rows(args.work_dir, f"train-{n}", self.device) for n in (SHORT, LONG))
        self.path = os.path.join(args.work_dir, "checkpoint.pt")
        self.state = {"step": 0, "tokens": 0, "seconds": 0.0, "short": 0, "long": 0, "steps_before": 0, "tokens_long": 0, "schedule": args.schedule}
        if os.path.exists(self.path):
            self.load()
        if self.workers > 1:
            self.share()
        size = sum(p.numel() for p in self.params.values())
        print(f"{size} parameters on {self.device}, {self.half or 'float32'}, {self.rows} rows of {SHORT} a step, {len(self.short.ids)} rows at "
            f"hand", flush=True)

    def load(self):
        saved = torch.load(self.path, map_location="cpu", weights_only=True)
        layers = saved["config"]["num_hidden_layers"]
        if layers > self.cfg.num_hidden_layers:
            sys.exit(f"The checkpoint has {layers} layers, more than --layers {self.cfg.num_hidden_layers}.")
        with torch.no_grad():
            for n, p in self.params.items():
                source, is_added = source_of(n, layers)
                for to, of in ((p, "model"), (self.optimizer.m[n], "m"), (self.optimizer.v.get(n), "v")):
                    if to is None:
                        continue
                    to.copy_(saved[of][source])
                    if is_added and n.endswith(("o_proj.weight", "down_proj.weight")):
                        to.zero_()
        self.state.update(saved["state"])
        if self.args.schedule != self.state["schedule"]:
            self.state.update(step=0, seconds=0.0, steps_before=self.state["steps_before"] + self.state["step"], schedule=self.args.schedule)
        print(f"continuing at step {self.state['step']}", flush=True)

    def save(self):
        torch.save({"model": self.model.state_dict(), "m": self.optimizer.m, "v": self.optimizer.v, "state": self.state, "config": self.cfg.to_dict(
            )}, self.path + ".tmp")
        os.replace(self.path + ".tmp", self.path)

    def autocast(self):
        return torch.autocast(self.device.type, dtype=self.half or torch.bfloat16, enabled=self.half is not None)

    def share(self):
        """Starts the other workers; weights, gradients and optimizer lie in shared memory."""
        self.model.share_memory()
        self.optimizer.share_memory()
        zeros = lambda: {n: torch.zeros_like(p, requires_grad=False).share_memory_() for n, p in self.params.items()}
        self.grads = [zeros() for _ in range(self.workers)]
        self.losses = torch.zeros(self.workers, dtype=torch.float64).share_memory_()
        self.job = torch.zeros(5, dtype=torch.float64).share_memory_()
        self.next = mp.Value("i", 0)
        self.barrier = mp.Barrier(self.workers)
        self.followers = [mp.get_context("fork").Process(target=self.follow, args=(rank,), daemon=True) for rank in range(1, self.workers)]
        for process in self.followers:
            process.start()

    def end(self):
        for process in self.followers:
            process.kill()

    def follow(self, rank):
        torch.set_num_threads(1)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if sys.platform == "linux":
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # ends with the first process, however that ends
        while True:
            self.barrier.wait()
            is_long, first, count, number, share = self.job.tolist()
            self.work(rank, bool(is_long), int(first), int(count), int(number), share)

    def work(self, rank, is_long, first, count, number, share):
        """The part of one worker in a step: rows as long as there are any, then a part of the optimizer."""
        rows, part = (self.long, max(1, self.part // (LONG // SHORT))) if is_long else (self.short, self.part)
        ids, labels, weights, begins = rows.batch(first, count)
        total = weights.sum()
        for p in self.params.values():
            p.grad = None
        loss = torch.zeros((), device=self.device)
        for i in self.parts(count, part):
            at = slice(i, i + part)
            where = documents_of(begins[at], self.way)
            with self.autocast():
                one = self.loss_sum(ids[at], labels[at], weights[at], where) / total
            (one * self.scaler).backward()
            loss += one.detach()
        if self.workers > 1:
            for n, p in self.params.items():
                self.grads[rank][n].zero_() if p.grad is None else self.grads[rank][n].copy_(p.grad)
            self.losses[rank] = float(loss)
            self.barrier.wait()
            loss = self.losses.sum()
            for n, p in self.params.items():
                p.grad = sum((g[n] for g in self.grads[1:]), self.grads[0][n].clone())
        if self.scaler != 1:
            for p in self.params.values():
                p.grad /= self.scaler
        self.optimizer.step(number, share, rank)
        if self.workers > 1:
            self.barrier.wait()
        return loss, ids.numel()

    def parts(self, count, part):
        """Where the next rows begin, as long as there are any; several workers share them out."""
        if self.workers == 1:
            yield from range(0, count, part)
            return
        while True:
            with self.next.get_lock():
                i = self.next.value
                self.next.value += part
            if i >= count:
                return
            yield i

    def step(self, number, progress):
        """One step; the loss."""
        is_long = progress >= LONG_FROM and number % LONG_EVERY == 0
        key, count = ("long", max(1, self.rows // (LONG // SHORT))) if is_long else ("short", self.rows)
        job = (is_long, self.state[key], count, self.state["steps_before"] + number + 1, factor(progress, number, self.args.peak))
        if self.workers > 1:
            self.job.copy_(torch.tensor([float(x) for x in job], dtype=torch.float64))
            self.next.value = 0
            self.barrier.wait()
        loss, tokens = self.work(0, *job)
        self.state[key] += count
        self.state["tokens"] += tokens
        self.state["tokens_long"] += tokens if is_long else 0
        return loss

    @torch.no_grad()
    def held_out(self, rows):
        """Mean loss per counting token of the held-out rows."""
        ids, labels, weights, begins = rows
        sums = 0.0
        for i in range(0, len(ids), self.part):
            at = slice(i, i + self.part)
            with self.autocast():
                sums += float(self.model.loss_sum(ids[at], labels[at], weights[at].ge(1).float(), documents_of(begins[at], self.way)))
        return sums / float((weights >= 1).sum())


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--work-dir", default=os.path.join(ROOT, ".work"))
    ap.add_argument("--minutes", type=float, default=600, help="minutes of training, all runs of this schedule together")
    ap.add_argument("--steps", type=int, help="a fixed number of steps instead of minutes")
    ap.add_argument("--schedule", default="1", help="a name; one that differs from the checkpoint's begins the schedule anew, with its weights")
    ap.add_argument("--peak", type=float, default=1.0, help="the highest learning rate as a share of the usual; less loses less of what a checkpoint knows")
    ap.add_argument("--layers", type=int, default=7, help="a checkpoint with fewer is continued as the same function with more layers")
    ap.add_argument("--rows", type=int, help="rows of 1,024 in a step; 8 on a CPU, 128 on a GPU")
    ap.add_argument("--part", type=int, help="rows of 1,024 computed at once; 1 on a CPU, 32 on a GPU")
    ap.add_argument("--device", help="cpu or cuda; the GPU where there is one")
    ap.add_argument("--workers", type=int, default=min(2, os.cpu_count()), help="processes of one thread each on a CPU")
    ap.add_argument("--compile", action="store_true", help="torch.compile: a minute at the start, then quicker on a GPU")
    ap.add_argument("--full-precision", action="store_true")
    ap.add_argument("--save-seconds", type=float, default=240)
    args = ap.parse_args()
    run = Run(args)
    state, gpu = run.state, run.device.type == "cuda"
    show, test = (50, 500) if gpu else (10, 100)
    check = Rows(args.work_dir, f"held-{SHORT}", run.device).batch(0, 32)
    log = open(os.path.join(args.work_dir, "losses.jsonl"), "a")
    last = last_save = time.time()
    recent, shown, stopped = (state["tokens"], state["seconds"]), [], []
    signal.signal(signal.SIGTERM, lambda *_: stopped.append(True))
    while not stopped:
        progress = state["step"] / args.steps if args.steps else state["seconds"] / (args.minutes * 60)
        if progress >= 1:
            break
        shown.append(run.step(state["step"], progress))
        state["step"] += 1
        if gpu and state["step"] % show == 0:
            torch.cuda.synchronize()
        now = time.time()
        state["seconds"] += now - last
        last = now
        if state["step"] % show == 0:
            loss = float(torch.stack(shown).mean())
            speed = (state["tokens"] - recent[0]) / max(1e-9, state["seconds"] - recent[1])
            recent, shown = (state["tokens"], state["seconds"]), []
            row = {"step": state["steps_before"] + state["step"], "tokens": state["tokens"], "loss": round(loss, 4), "lr": round(factor(progress,
                state["step"], args.peak), 3), "minutes": round(state["seconds"] / 60, 2)}
            if state["step"] % test == 0:
                row["held_out"] = round(run.held_out(check), 4)
            print(" ".join(f"{k} {v}" for k, v in row.items()) + f" {speed:.0f} tokens/s", flush=True)
            log.write(json.dumps(row) + "\n")
            log.flush()
        if now - last_save > args.save_seconds:
            run.save()
            last_save = now
    run.save()
    run.end()
    if stopped:
        print(f"stopped at step {state['step']}; the same command continues", flush=True)
        return
    with open(os.path.join(args.work_dir, "training.json"), "w") as out:
        json.dump({**state, "parameters": sum(p.numel() for p in run.params.values()), "held_out": run.held_out(check)}, out, indent=1)
    print(f"finished at step {state['step']}, {state['tokens']} tokens", flush=True)


if __name__ == "__main__":
    main()
