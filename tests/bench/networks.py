#!/usr/bin/env python3
"""Time whole networks on one thread beside ONNX Runtime, interleaved, and print a table. With --readme it goes
between the two lines "networks" and "end of networks" of that page.

usage: networks.py --models DIR --cli BUILD/lppool-cli [--rounds 5] [--runs 8] [--only NAME,...] [--out RUN.jsonl]
                   [--readme README.md]

DIR holds one folder a network with model.onnx (the folder shared/onnx-backend/light beside the project);
ORT_NODE_MODULES names the node_modules folder with onnxruntime-node 1.30. Every round visits every network, and at each
ours and theirs in turn, so that a slow spell of the machine falls on both. Memory is the peak resident size of the whole
process; theirs includes Node, about 50 MB.
"""
import argparse
import json
import math
import os
import re
import statistics
import subprocess
import sys
import tempfile


def run(command):
    """The JSON a command prints, and the most memory it held, in MB."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, stderr=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode != 0:
            sys.exit("%s: exit code %d" % (" ".join(command), child.returncode))
        out.seek(0)
        return json.load(out), usage.ru_maxrss / 1024


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--models", required=True)
    parser.add_argument("--cli", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=8)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", default=os.devnull)
    parser.add_argument("--readme")
    a = parser.parse_args()
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "networks_ort.js")
    names = sorted(n for n in os.listdir(a.models) if os.path.exists(os.path.join(a.models, n, "model.onnx")))
    names = [n for n in names if not a.only or n in a.only.split(",")]
    times = {(n, who): [] for n in names for who in ("ours", "ort")}
    fastest = {key: math.inf for key in times}
    memory = {key: 0 for key in times}
    with open(a.out, "a") as log:
        for number in range(a.rounds):
            for name in names:
                model = os.path.join(a.models, name, "model.onnx")
                commands = {
                    "ours": [a.cli, "bench", model, "--threads", "1", "--runs", str(a.runs), "--warmup", "2", "--format", "json"],
                    "ort": ["node", script, model, "1"],
                }
                for who, command in commands.items():
                    record, peak = run(command)
                    record = record.get("total_ms", record)
                    times[name, who].append(record["median"])
                    fastest[name, who] = min(fastest[name, who], record["min"])
                    memory[name, who] = max(memory[name, who], peak)
                    log.write(json.dumps({"round": number, "network": name, "who": who, "ms": record["median"],
                                          "min_ms": record["min"], "peak_mb": peak}) + "\n")
                    log.flush()
    lines = []
    lines.append("| network | ours, ms | ONNX Runtime, ms | ratio | fastest runs | ratio | ours, MB | ONNX Runtime, MB |")
    lines.append("|---|--:|--:|--:|--:|--:|--:|--:|")
    ratios, fast_ratios = [], []
    for name in names:
        ours, ort = (statistics.median(times[name, who]) for who in ("ours", "ort"))
        ratios.append(ours / ort)
        fast_ratios.append(fastest[name, "ours"] / fastest[name, "ort"])
        lines.append("| %s | %.3g | %.3g | %.2f | %.3g, %.3g | %.2f | %.0f | %.0f |" % (
            name, ours, ort, ratios[-1], fastest[name, "ours"], fastest[name, "ort"], fast_ratios[-1],
            memory[name, "ours"], memory[name, "ort"]))
    lines.append("\nGeometric mean of the ratios: %.2f (medians of the rounds' medians), %.2f (fastest runs)" % (
        statistics.geometric_mean(ratios), statistics.geometric_mean(fast_ratios)))
    table = "\n".join(lines)
    print(table)
    if a.readme:
        with open(a.readme) as page:
            text = page.read()
        with open(a.readme, "w") as page:
            page.write(re.sub(r"(<!-- networks -->\n).*(<!-- end of networks -->)", lambda m: m[1] + "\n" + table + "\n\n" + m[2],
                              text, flags=re.DOTALL))


if __name__ == "__main__":
    main()
