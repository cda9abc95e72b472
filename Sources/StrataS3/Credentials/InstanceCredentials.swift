import NIOHTTP1
public import StrataObjectStore

/// Credentials of a virtual machine's role, from EC2's instance metadata, version 2.
///
/// `AWS_EC2_METADATA_DISABLED=true` turns it off, `AWS_EC2_METADATA_SERVICE_ENDPOINT` names another address.
public struct InstanceCredentials: S3CredentialProvider {
    private static let folder = "/latest/meta-data/iam/security-credentials/"
    private let environment: [String: String]

    /// Reads the variables from a dictionary: the process's environment, unless another is given.
    public init(environment: [String: String] = ProcessEnvironment.variables) {
        self.environment = environment
    }

    public func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? {
        if environment["AWS_EC2_METADATA_DISABLED"]?.lowercased() == "true" { return nil }
        var endpoint = environment["AWS_EC2_METADATA_SERVICE_ENDPOINT"] ?? ""
        if endpoint.isEmpty { endpoint = "http://169.254.169.254" }
        while endpoint.last == "/" { endpoint.removeLast() }

        let asked = MetadataRequest(
            url: endpoint + "/latest/api/token", method: .PUT,
            headers: ["X-aws-ec2-metadata-token-ttl-seconds": "21600"], timeout: .seconds(1), tries: 2)
        // Nobody there: this is not such a machine.
        guard let token = await asked.textIfReached(over: connections) else { return nil }
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            throw .credentials(message: "the instance's metadata gave no token")
        }
        let headers: HTTPHeaders = ["X-aws-ec2-metadata-token": token]
        func read(_ path: String) async throws(ObjectStoreError) -> String {
            let asked = MetadataRequest(url: endpoint + path, headers: headers, timeout: .seconds(2))
            return try await asked.text(over: connections, of: "the instance's credentials")
        }
        let roles = try await read(Self.folder)
        guard let role = roles.split(whereSeparator: \.isNewline).first else {
            throw .credentials(message: "the instance has no role")
        }
        let body = try await read(Self.folder + URIEncoding.encoded(String(role)))
        return try TemporaryKeys(json: body, source: "the instance's credentials").credentials
    }
}
