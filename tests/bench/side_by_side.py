#!/usr/bin/env python3
"""Time the kernels and their peers in one run, interleaved, and print the table of README.md.

usage: side_by_side.py --peers DIR --workloads DIR --bench BUILD/tests/bench/workload_bench --out RUN.jsonl
                       [--rounds 2] [--seconds 0.25] [--only a,b,...] [--skip-peers ort] [--table-only]
                       [--readme README.md]

DIR of --peers holds bench_ort.js, bench_torch.py and limit.cpp (the folder shared/peers beside the project); workloads
come from its make_workloads.py. ORT_NODE_MODULES names the node_modules folder with onnxruntime-node. Every round visits
every workload, and at each workload every peer and thread count in turn, so that a slow spell of the machine falls on
all of them alike. Peers that take seconds for one inference run in the first round only. --readme puts the tables
between the marks <!-- tables --> and <!-- end of tables --> of that file.
"""
import argparse
import collections
import json
import math
import os
import statistics
import subprocess
import sys


def records(command, timeout=600):
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout)
    except subprocess.TimeoutExpired:
        return [{"ok": False, "error": "timeout"}]
    found = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    return found or [{"ok": False, "error": done.stderr[-200:]}]


def measure(a, metas):
    limit = os.path.join(a.workloads, "limit")
    if not os.path.exists(limit):
        subprocess.run(["g++", "-O3", "-march=native", "-pthread", os.path.join(a.peers, "limit.cpp"), "-o", limit], check=True)
    python = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
    with open(a.out, "a") as log:
        for number in range(a.rounds):
            for meta in metas:
                folder = os.path.join(a.workloads, meta["id"])
                slow = meta["taps"] > 3e8 and number > 0  # for peers: seconds per inference
                iterations = "1" if meta["taps"] > 1e8 else "2"
                for threads in ("1", "2"):
                    common = ["--dir", folder, "--threads", threads, "--seconds", str(a.seconds),
                              "--min-iters", iterations]
                    jobs = {"lppool": [a.bench] + common}
                    if "torch" not in a.skip_peers and not slow:
                        jobs["torch"] = [python, "-B", os.path.join(a.peers, "bench_torch.py")] + common
                    if "ort" not in a.skip_peers and not slow:
                        jobs["ort"] = ["node", os.path.join(a.peers, "bench_ort.js")] + common
                    jobs["limit"] = [limit, "--rw", str(meta["in_bytes"]), str(meta["out_bytes"]), "--threads", threads,
                                     "--seconds", "0.2"]
                    for peer, command in jobs.items():
                        for r in records(command):
                            r.update(peer=peer, id=meta["id"], threads=int(threads), round=number)
                            log.write(json.dumps(r) + "\n")
                    # Ours once more after the peers, so that it is measured at both ends of their spell.
                    for r in records(jobs["lppool"]):
                        r.update(peer="lppool", id=meta["id"], threads=int(threads), round=number)
                        log.write(json.dumps(r) + "\n")
                    log.flush()


def table(a, metas):
    by = collections.defaultdict(list)
    with open(a.out) as f:
        for line in f:
            r = json.loads(line)
            if r.get("ok") and r.get("shape_ok", True):
                by[r["id"], r["threads"], r["peer"], r.get("form", "")].append(r)

    def cell(wid, threads, peer, form, key):
        found = by.get((wid, threads, peer, form))
        if not found:
            return None
        return min(r["min_ms"] for r in found) if key == "min" else statistics.median(r["median_ms"] for r in found)

    def best(wid, threads, key):
        found = [(cell(*k, key), (k[2] + " " + k[3]).strip()) for k in list(by)
                 if k[0] == wid and k[1] == threads and k[2] in ("ort", "torch")]
        return min(found) if found else (None, "")

    lines = []

    def show(v):
        return "-" if v is None else "%.3g" % v if v < 1000 else "%.0f" % v

    for key, title in (("median", "median of round medians"), ("min", "fastest single run")):
        lines.append("\n### Milliseconds, %s\n" % title)
        lines.append("| id | workload | threads | lppool | best peer | peer | ratio | ORT | ORT / lppool | limit |")
        lines.append("|---|---|--:|--:|--:|---|--:|--:|--:|--:|")
        ratios = collections.defaultdict(list)
        for meta in metas:
            for threads in (1, 2):
                wid = meta["id"]
                ours = cell(wid, threads, "lppool", "", key)
                peer, name = best(wid, threads, key)
                ort = cell(wid, threads, "ort", "", key)
                if ours is None:
                    continue
                if peer:
                    ratios[threads].append(ours / peer)
                lines.append("| %s | %s | %d | %s | %s | %s | %s | %s | %s | %s |" % (
                    wid, meta["title"], threads, show(ours), show(peer), name,
                    "%.3f" % (ours / peer) if peer else "-", show(ort),
                    "%.0f" % (ort / ours) if ort else "-", show(cell(wid, threads, "limit", "", "median"))))
        for threads, values in sorted(ratios.items()):
            lines.append("\nGeometric mean of the ratios at %d thread%s: %.3f; largest %.3f" % (
                threads, "" if threads == 1 else "s", math.exp(sum(map(math.log, values)) / len(values)), max(values)))
    return "\n".join(lines)



def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--peers", required=True)
    parser.add_argument("--workloads", required=True)
    parser.add_argument("--bench", required=True)
    parser.add_argument("--out", required=True)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=0.25)
    parser.add_argument("--readme", default="")
    parser.add_argument("--only", default="")
    parser.add_argument("--skip-peers", default="")
    parser.add_argument("--table-only", action="store_true")
    a = parser.parse_args()
    with open(os.path.join(a.workloads, "workloads.json")) as f:
        metas = [m for m in json.load(f) if m["op"] != "chain"]
    if a.only:
        metas = [m for m in metas if m["id"] in a.only.split(",")]
    if not a.table_only:
        measure(a, metas)
    text = table(a, metas)
    print(text)
    if a.readme:
        with open(a.readme) as f:
            before, rest = f.read().split("<!-- tables -->")
        after = rest.split("<!-- end of tables -->")[1]
        with open(a.readme, "w") as f:
            f.write(before + "<!-- tables -->" + text + "\n<!-- end of tables -->" + after)


if __name__ == "__main__":
    main()
