import Foundation
import StrataObjectStore
import Synchronization
import Testing

@testable import StrataS3

struct CredentialTests {
    private let nowhere = [
        "AWS_CONFIG_FILE": "/nonexistent", "AWS_SHARED_CREDENTIALS_FILE": "/nonexistent",
        "AWS_EC2_METADATA_DISABLED": "true",
    ]

    private func find(_ provider: some S3CredentialProvider) async throws(ObjectStoreError) -> S3Credentials? {
        let connections = S3Connections(connectTimeout: .seconds(1))
        let result: Result<S3Credentials?, ObjectStoreError>
        do throws(ObjectStoreError) {
            result = .success(try await provider.credentials(over: connections))
        } catch {
            result = .failure(error)
        }
        await connections.shutdown()
        return try result.get()
    }

    private func message(_ provider: some S3CredentialProvider) async -> String {
        do throws(ObjectStoreError) {
            return "none: \(String(describing: try await find(provider)))"
        } catch .credentials(let message) {
            return message
        } catch {
            return "another error: \(error)"
        }
    }

    @Test func theEnvironmentHasThem() async throws {
        let environment = ["AWS_ACCESS_KEY_ID": "K", "AWS_SECRET_ACCESS_KEY": "S\n", "AWS_SESSION_TOKEN": "T"]
        #expect(
            try await find(EnvironmentCredentials(environment: environment))
                == S3Credentials(accessKeyID: "K", secretAccessKey: "S", sessionToken: "T"))
        #expect(try await find(EnvironmentCredentials(environment: [:])) == nil)
        #expect(await message(EnvironmentCredentials(environment: ["AWS_ACCESS_KEY_ID": "K"])).contains("SECRET"))
    }

    @Test func filesHaveThem() async throws {
        let file = try TemporaryFile(
            """
            # a comment
            [default]
            aws_access_key_id = K1
            aws_secret_access_key=S1=/+
            [ other ]
            AWS_ACCESS_KEY_ID = K2
            aws_secret_access_key = S2
            aws_session_token = T2
            s3 =
              aws_access_key_id = nested
            [half]
            aws_access_key_id = K3
            """)
        let configuration = try TemporaryFile(
            "[profile role]\nrole_arn = arn\n[profile empty]\nregion = x\n[profile there]\naws_access_key_id = K4\n"
                + "aws_secret_access_key = S4\n")
        let environment = ["AWS_SHARED_CREDENTIALS_FILE": file.path, "AWS_CONFIG_FILE": configuration.path]
        func profile(_ name: String?) -> ProfileCredentials {
            ProfileCredentials(profile: name, environment: environment)
        }
        #expect(try await find(profile(nil)) == S3Credentials(accessKeyID: "K1", secretAccessKey: "S1=/+"))
        #expect(
            try await find(profile("other"))
                == S3Credentials(accessKeyID: "K2", secretAccessKey: "S2", sessionToken: "T2"))
        #expect(try await find(profile("there"))?.accessKeyID == "K4")
        #expect(await message(profile("half")).contains("only one"))
        #expect(await message(profile("role")).contains("role_arn, which is not supported"))
        #expect(await message(profile("empty")).contains("no keys"))
        #expect(await message(profile("missing")).contains("no profile missing"))
        #expect(try await find(ProfileCredentials(environment: nowhere)) == nil)
        let named = nowhere.merging(["AWS_PROFILE": "x"]) { $1 }
        #expect(await message(ProfileCredentials(environment: named)).contains("no profile x"))
    }

    @Test func containersAreAsked() async throws {
        let server = MischievousServer { call in
            guard call.number > 0 else { return .drop }
            guard call.headers["authorization"] == "the token" else { return .answer(401) }
            return .answer(
                200, [:],
                Array(
                    #"{"AccessKeyId":"K","SecretAccessKey":"S","Token":"T","Expiration":"2126-01-01T00:00:00Z"}"#.utf8))
        }
        let token = try TemporaryFile("the token\n")
        let environment = [
            "AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url + "/creds",
            "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE": token.path,
        ]
        let found = try await find(ContainerCredentials(environment: environment))
        #expect(found?.accessKeyID == "K" && found?.sessionToken == "T" && (found?.expiration ?? 0) > 4e9)
        try token.write("wrong secret token")
        let problem = await message(ContainerCredentials(environment: environment))
        #expect(problem.contains("401") && !problem.contains("secret"))
        #expect(try await find(ContainerCredentials(environment: [:])) == nil)
    }

    @Test(arguments: [
        "http://example.com/x", "ftp://127.0.0.1/", "http://127.0.0.1.example.com/", "nothing", "http://169.254.1.1/",
    ])
    func tokensAreSentToContainersAlone(_ url: String) async {
        let environment = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": url, "AWS_CONTAINER_AUTHORIZATION_TOKEN": "t"]
        #expect(await message(ContainerCredentials(environment: environment)).contains("neither https nor"))
    }

    @Test(arguments: [
        "", "{}", "[]", #"{"Code":"Failed"}"#, #"{"AccessKeyId":"K"}"#,
        #"{"AccessKeyId":"K","SecretAccessKey":"SECRET","Expiration":"tomorrow"}"#,
    ])
    func answersThatAreNoKeysAreRefused(_ body: String) async {
        let server = MischievousServer { _ in .answer(200, [:], Array(body.utf8)) }
        let environment = ["AWS_CONTAINER_CREDENTIALS_FULL_URI": server.url]
        let problem = await message(ContainerCredentials(environment: environment))
        #expect(problem.hasPrefix("the container's credentials") && !problem.contains("SECRET"))
    }

    @Test func instancesAreAskedWithAToken() async throws {
        let server = MischievousServer { call in
            switch (call.method, call.path) {
            case ("PUT", "/latest/api/token"):
                call.headers["x-aws-ec2-metadata-token-ttl-seconds"] == "21600"
                    ? .answer(200, [:], Array("TOKEN==".utf8)) : .answer(400)
            case _ where call.headers["x-aws-ec2-metadata-token"] != "TOKEN==": .answer(401)
            case ("GET", "/latest/meta-data/iam/security-credentials/"): .answer(200, [:], Array("my role\n".utf8))
            case ("GET", "/latest/meta-data/iam/security-credentials/my%20role"):
                .answer(
                    200, [:],
                    Array(
                        """
                        {"Code":"Success","AccessKeyId":"K","SecretAccessKey":"S","Token":"T",
                        "Expiration":"2126-01-01T00:00:00Z","Type":"AWS-HMAC"}
                        """.utf8))
            default: .answer(404)
            }
        }
        let environment = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": server.url + "/"]
        #expect(try await find(InstanceCredentials(environment: environment))?.accessKeyID == "K")
        let off = environment.merging(["AWS_EC2_METADATA_DISABLED": "TRUE"]) { $1 }
        #expect(try await find(InstanceCredentials(environment: off)) == nil)
        // Where there is no such service, there are no such credentials.
        let none = ["AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:\(MischievousServer.freePort())"]
        #expect(try await find(InstanceCredentials(environment: none)) == nil)
    }

    @Test func tokensOfOthersAreExchanged() async throws {
        let server = MischievousServer { call in
            let body = String(decoding: call.body, as: UTF8.self)
            guard body.contains("WebIdentityToken=web%20token&") || body.hasSuffix("WebIdentityToken=web%20token"),
                body.contains("RoleArn=arn%3Aaws%3Aiam"), body.contains("Action=AssumeRoleWithWebIdentity")
            else { return .answer(400) }
            return .answer(
                200, [:],
                Array(
                    """
                    <AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
                    <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>K</AccessKeyId>
                    <SecretAccessKey>S</SecretAccessKey><SessionToken>T</SessionToken>
                    <Expiration>2126-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
                    </AssumeRoleWithWebIdentityResponse>
                    """.utf8))
        }
        let token = try TemporaryFile("web token")
        var environment = [
            "AWS_WEB_IDENTITY_TOKEN_FILE": token.path, "AWS_ROLE_ARN": "arn:aws:iam::1:role/r",
            "AWS_ENDPOINT_URL_STS": server.url,
        ]
        #expect(try await find(WebIdentityCredentials(environment: environment))?.sessionToken == "T")
        environment["AWS_ROLE_ARN"] = nil
        #expect(await message(WebIdentityCredentials(environment: environment)).contains("AWS_ROLE_ARN"))
    }

    @Test func theFirstThatHasThemIsTaken() async throws {
        var environment = nowhere
        #expect(try await find(CredentialChain.standard(environment: environment)) == nil)
        let file = try TemporaryFile(
            "[default]\naws_access_key_id=F\naws_secret_access_key=S\n"
                + "[p]\naws_access_key_id=P\naws_secret_access_key=S\n")
        environment["AWS_SHARED_CREDENTIALS_FILE"] = file.path
        #expect(try await find(CredentialChain.standard(environment: environment))?.accessKeyID == "F")
        environment["AWS_ACCESS_KEY_ID"] = "E"
        environment["AWS_SECRET_ACCESS_KEY"] = "S"
        #expect(try await find(CredentialChain.standard(environment: environment))?.accessKeyID == "E")
        #expect(try await find(CredentialChain.standard(profile: "p", environment: environment))?.accessKeyID == "P")
    }

    @Test func noCredentialsAreAnErrorThatSaysSo() async throws {
        let server = MischievousServer { _ in .answer(200) }
        let store = try server.store(credentials: CredentialChain.standard(environment: nowhere))
        let error = await #expect(throws: ObjectStoreError.self) { try await store.head("key") }
        guard case .credentials(let message)? = error else { throw error ?? .cancelled }
        #expect(message.contains("none are configured") && server.calls.isEmpty)
        await store.shutdown()
    }

    @Test func printingThemShowsNoSecret() {
        let keys = S3Credentials(accessKeyID: "AKIDEXAMPLE", secretAccessKey: "HUSH", sessionToken: "TOKEN")
        var dumped = ""
        dump(keys, to: &dumped)
        for text in ["\(keys)", String(reflecting: keys), dumped, "\(StaticCredentials(keys))", "\([keys])"] {
            #expect(!text.contains("HUSH") && !text.contains("TOKEN") && !text.contains("AKIDEX"))
        }
        #expect(keys.redacted("a HUSH b TOKEN") == "a [redacted] b [redacted]")
    }

    @Test func aServerThatEchoesSecretsIsNotQuoted() async throws {
        let server = MischievousServer { _ in
            .answer(
                403, [:],
                Array("<Error><Code>AccessDenied</Code><Message>\(testKeys.secretAccessKey)</Message></Error>".utf8))
        }
        let store = try server.store()
        let error = await #expect(throws: ObjectStoreError.self) { try await store.get("key", range: nil) }
        #expect(error.map { "\($0)".contains("[redacted]") && !"\($0)".contains(testKeys.secretAccessKey) } == true)
        await store.shutdown()
    }

    @Test func keysThatNoHeaderTakesAreNotSent() async throws {
        let server = MischievousServer { _ in .answer(200) }
        let keys = S3Credentials(accessKeyID: "AK\r\nX: y", secretAccessKey: "S")
        let store = try server.store(credentials: StaticCredentials(keys))
        let error = await #expect(throws: ObjectStoreError.self) { try await store.head("key") }
        guard case .credentials(let message)? = error else { throw error ?? .cancelled }
        #expect(!message.contains("AK") && server.calls.isEmpty)
        await store.shutdown()
    }
}

/// Credentials that end, and are fetched anew.
struct CredentialRefreshTests {
    /// Gives a new key at each call, good for a time.
    private final class Rotating: S3CredentialProvider {
        let calls = Mutex(0)
        let isFailing = Mutex(false)
        let lifetime: Double
        let now: @Sendable () -> Double
        let delay: Duration

        init(lifetime: Double, delay: Duration = .zero, now: @escaping @Sendable () -> Double) {
            self.lifetime = lifetime
            self.delay = delay
            self.now = now
        }

        func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? {
            do { try await Task.sleep(for: delay) } catch { throw .cancelled }
            let number = calls.withLock { calls in
                calls += 1
                return calls
            }
            if isFailing.withLock({ $0 }) { throw .credentials(message: "the service is down") }
            return S3Credentials(
                accessKeyID: "K\(number)", secretAccessKey: "S", sessionToken: "T", expiration: now() + lifetime)
        }
    }

    private static func cache(_ provider: Rotating) -> CredentialCache {
        CredentialCache(provider: provider, connections: S3Connections(), now: provider.now)
    }

    @Test func manyWhoWaitAskOnce() async throws {
        let provider = Rotating(lifetime: 3600, delay: .milliseconds(100)) { 0 }
        let cache = Self.cache(provider)
        let found = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<50 { group.addTask { try await cache.credentials().accessKeyID } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(found == ["K1"] && provider.calls.withLock { $0 } == 1)
    }

    @Test func whoeverWaitsMayGiveUpAndOthersGetThem() async throws {
        let provider = Rotating(lifetime: 3600, delay: .seconds(3)) { 0 }
        let cache = Self.cache(provider)
        let first = Task { try await cache.credentials() }
        let second = Task { try await cache.credentials().accessKeyID }
        try await Task.sleep(for: .milliseconds(50))
        first.cancel()
        let start = ContinuousClock.now
        await #expect(throws: ObjectStoreError.cancelled) { try await first.value }
        #expect(start.duration(to: .now) < .seconds(2))
        #expect(try await second.value == "K1")
    }

    @Test func theyAreFetchedBesideRequestsBeforeTheyEnd() async throws {
        let clock = TimeBox()
        let provider = Rotating(lifetime: 1000) { clock.now }
        let cache = Self.cache(provider)
        #expect(try await cache.credentials().accessKeyID == "K1")
        clock.now = 690
        #expect(try await cache.credentials().accessKeyID == "K1")
        #expect(provider.calls.withLock { $0 } == 1)
        // Within the last five minutes: the old are used while new ones are fetched.
        clock.now = 710
        provider.isFailing.withLock { $0 = true }
        #expect(try await cache.credentials().accessKeyID == "K1")
        while provider.calls.withLock({ $0 }) < 2 { await Task.yield() }
        // That failed. They are still good, and the next fetch waits a little.
        for _ in 0..<100 { #expect(try await cache.credentials().accessKeyID == "K1") }
        try await Task.sleep(for: .milliseconds(20))
        #expect(provider.calls.withLock { $0 } == 2)
        clock.now = 730
        provider.isFailing.withLock { $0 = false }
        #expect(try await cache.credentials().accessKeyID == "K1")
        while try await cache.credentials().accessKeyID == "K1" { try await Task.sleep(for: .milliseconds(1)) }
        #expect(try await cache.credentials().accessKeyID == "K3")
        // Long past: they are fetched before anything is sent.
        clock.now = 100_000
        #expect(try await cache.credentials().accessKeyID == "K4")
        clock.now = 200_000
        provider.isFailing.withLock { $0 = true }
        await #expect(throws: ObjectStoreError.credentials(message: "the service is down")) {
            try await cache.credentials()
        }
    }

    private final class TimeBox: Sendable {
        private let value = Mutex(0.0)
        var now: Double {
            get { value.withLock { $0 } }
            set { value.withLock { $0 = newValue } }
        }
    }

    @Test func keysThatAServerRefusesAreFetchedAnewWithoutARestart() async throws {
        let server = MischievousServer { call in
            call.headers["authorization"]?.contains("Credential=K2/") == true
                ? .answer(200, ["ETag": "e"], [1]) : .error(400, "ExpiredToken")
        }
        let provider = Rotating(lifetime: 3600) { 0 }
        let store = try server.store(credentials: provider, clock: { 0 })
        #expect(try await store.get("key", range: nil).bytes == [1])
        #expect(server.calls.count == 2)
        #expect(server.calls.allSatisfy { $0.headers["x-amz-security-token"] == "T" })
        await store.shutdown()
    }

    @Test func keysInAFileAreReadAnewWhenTheyAreRotated() async throws {
        let server = MischievousServer { call in
            call.headers["authorization"]?.contains("Credential=NEW/") == true
                ? .head(200, ["ETag": "e", "Content-Length": "1"])
                : call.method == "HEAD" ? .head(403, [:]) : .error(403, "InvalidAccessKeyId")
        }
        let file = try TemporaryFile("[default]\naws_access_key_id=OLD\naws_secret_access_key=S\n")
        let environment = ["AWS_SHARED_CREDENTIALS_FILE": file.path, "AWS_CONFIG_FILE": "/nonexistent"]
        let store = try server.store(credentials: ProfileCredentials(environment: environment))
        let error = await #expect(throws: ObjectStoreError.self) { try await store.get("key", range: nil) }
        guard case .credentials(let message)? = error else { throw error ?? .cancelled }
        #expect(message.contains("InvalidAccessKeyId"))
        try file.write("[default]\naws_access_key_id=NEW\naws_secret_access_key=S\n")
        #expect(try await store.head("key")?.size == 1)
        await store.shutdown()
    }

    @Test func staticKeysThatAreRefusedAreAnError() async throws {
        let server = MischievousServer { _ in .error(403, "InvalidAccessKeyId") }
        let store = try server.store()
        for calls in [2, 3] {
            let error = await #expect(throws: ObjectStoreError.self) { try await store.get("key", range: nil) }
            guard case .credentials? = error else { throw error ?? .cancelled }
            #expect(server.calls.count == calls)
        }
        await store.shutdown()
    }
}
