import Foundation
import NIOHTTP1
import StrataObjectStore
import Synchronization

@testable import StrataS3

/// A server that speaks S3's protocol, started for the tests of this process and stopped with it.
actor TestServer {
    enum Kind: String, CaseIterable, Sendable {
        case seaweed, moto, rclone
    }

    /// Why a server cannot be had.
    struct Missing: Error, CustomStringConvertible {
        let description: String
    }

    static let keys = S3Credentials(accessKeyID: "AKSTRATA", secretAccessKey: "SKSTRATA12345678")
    private static let servers = [Kind: TestServer](uniqueKeysWithValues: Kind.allCases.map { ($0, TestServer($0)) })

    /// The one of a kind that this process has.
    static func shared(_ kind: Kind) -> TestServer { servers[kind]! }

    /// Where `pip install --target` has put the servers: `make test-s3` does it.
    static let packages =
        ProcessInfo.processInfo.environment["STRATA_S3_SERVERS"]
        ?? URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(".build/s3-servers").path

    /// Whether tests may do without a server that cannot be had.
    private static func isOptional(_ kind: Kind) -> Bool {
        #if !arch(x86_64)
        // PyPI has it for no other machine.
        if kind == .seaweed { return true }
        #endif
        return ProcessInfo.processInfo.environment["STRATA_S3_SERVERS_REQUIRED"] == nil
    }

    /// Whether a kind is installed; if not, and it need not be, says so loudly.
    static func isThere(_ kind: Kind) -> Bool {
        if FileManager.default.isExecutableFile(atPath: program(kind)) || !isOptional(kind) { return true }
        let text = """
            *******************************************************************************
            * NOT TESTED: \(program(kind)) is missing,
            * so nothing has been tested against \(kind). `make test-s3` installs it.
            *******************************************************************************

            """
        FileHandle.standardError.write(Data(text.utf8))
        return false
    }

    private static func program(_ kind: Kind) -> String {
        let name =
            switch kind {
            case .seaweed: "weed"
            case .moto: "moto_server"
            case .rclone: "rclone"
            }
        return packages + "/bin/" + name
    }

    let kind: Kind
    private var process: ServerProcess?
    private var port: UInt16 = 0
    /// Where SeaweedFS speaks TLS.
    private(set) var tlsPort: UInt16 = 0
    private var starting: Task<Void, any Error>?
    /// Where it answers, once it has been started.
    var endpoint: String { "http://127.0.0.1:\(port)" }

    private init(_ kind: Kind) {
        self.kind = kind
    }

    /// A store in a bucket of the server, once that answers.
    func store(
        bucket: String = "bucket", prefix: String = "", change: (inout S3Configuration) -> Void = { _ in }
    ) async throws -> S3ObjectStore {
        if starting == nil { starting = Task { try await start() } }
        try await starting!.value
        let store = try make(bucket: bucket, prefix: prefix, change: change)
        try await TestServer.createBucket(of: store)
        return store
    }

    private func make(
        bucket: String, prefix: String, change: (inout S3Configuration) -> Void
    ) throws -> S3ObjectStore {
        var configuration = S3Configuration(
            bucket: bucket, prefix: prefix, endpoint: "http://127.0.0.1:\(port)", style: .path)
        change(&configuration)
        return try S3ObjectStore(configuration, credentials: StaticCredentials(Self.keys))
    }

    private static func createBucket(of store: S3ObjectStore) async throws {
        let answer = try await store.caller.call(S3Request(method: .PUT, key: nil), name: "")
        guard answer.isSuccess || answer.status == 409 else { throw store.error(answer, key: "") }
    }

    private func start() async throws {
        let program = Self.program(kind)
        guard FileManager.default.isExecutableFile(atPath: program) else {
            throw Missing(description: "\(program) is missing: `make test-s3` installs it")
        }
        let ports = Self.freePorts(9)
        port = ports[0]
        tlsPort = ports[8]
        let process = try launch(program, ports: ports)
        self.process = process
        // A port that answers is not yet a server that stores.
        var store = try make(bucket: "first", prefix: "") { $0.retryDeadline = .zero }
        let start = ContinuousClock.now
        while true {
            do {
                try await Self.createBucket(of: store)
                let bytes: [UInt8] = [1]
                _ = try await store.put("ready", bytes, digest: ObjectDigest(of: bytes), if: .always)
                await store.shutdown()
                return
            } catch {
                await store.shutdown()
                guard process.isRunning, start.duration(to: .now) < .seconds(60) else {
                    throw Missing(description: "\(kind) does not start: \(error)\n\(process.output)")
                }
                try await Task.sleep(for: .milliseconds(200))
                store = try make(bucket: "first", prefix: "") { $0.retryDeadline = .zero }
            }
        }
    }

    private func launch(_ program: String, ports: [UInt16]) throws -> ServerProcess {
        switch kind {
        case .seaweed:
            let identity = """
                {"identities":[{"name":"t","credentials":[{"accessKey":"\(Self.keys.accessKeyID)",\
                "secretKey":"\(Self.keys.secretAccessKey)"}],"actions":["Admin","Read","Write","List","Tagging"]}]}
                """
            return try ServerProcess(
                program,
                [
                    "server", "-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3",
                    "-s3.config={folder}/s3.json",
                    "-s3.port=\(ports[0])", "-s3.port.grpc=\(ports[1])", "-master.port=\(ports[2])",
                    "-master.port.grpc=\(ports[3])", "-volume.port=\(ports[4])", "-volume.port.grpc=\(ports[5])",
                    "-filer.port=\(ports[6])", "-filer.port.grpc=\(ports[7])", "-master.volumeSizeLimitMB=64",
                    "-volume.max=20", "-master.telemetry=false", "-s3.port.iceberg=0", "-s3.port.lance=0",
                    "-s3.localSocket={folder}/s3.sock", "-s3.port.https=\(ports[8])",
                    "-s3.cert.file={folder}/server.pem", "-s3.key.file={folder}/server.key",
                ],
                files: [
                    "s3.json": identity, "server.pem": TestCertificates.server,
                    "server.key": TestCertificates.serverKey,
                ])
        case .moto:
            return try ServerProcess(
                "python3", ["{folder}/server.py", "-H", "127.0.0.1", "-p", "\(ports[0])"],
                environment: ["PYTHONPATH": Self.packages], files: ["server.py": Self.oneAtATime])
        case .rclone:
            return try ServerProcess(
                program,
                [
                    "serve", "s3", "--addr", "127.0.0.1:\(ports[0])", "--auth-key",
                    "\(Self.keys.accessKeyID),\(Self.keys.secretAccessKey)", "--config", "{folder}/rclone.conf",
                    "{folder}",
                ])
        }
    }

    /// Moto looks at a condition in one step and writes in another, on a thread for each request: two writers at the
    /// same time may both win. Here its requests wait for each other.
    private static let oneAtATime = """
        import sys, threading, moto.server
        lock = threading.Lock()
        class OneAtATime(moto.server.DomainDispatcherApplication):
            def __call__(self, environ, start_response):
                with lock: return super().__call__(environ, start_response)
        moto.server.DomainDispatcherApplication = OneAtATime
        moto.server.main(sys.argv[1:])
        """

    private static func freePorts(_ count: Int) -> [UInt16] {
        // Held until all are found, so that they differ.
        let servers = (0..<count).map { _ in MischievousServer { _ in .drop } }
        defer { for server in servers { server.stop() } }
        return servers.map(\.port)
    }
}
