import Foundation
import NIOHTTP1
public import StrataObjectStore

/// Credentials of a container's task or pod, from the address that ECS and EKS put into its environment.
///
/// `AWS_CONTAINER_CREDENTIALS_RELATIVE_URI` or `AWS_CONTAINER_CREDENTIALS_FULL_URI`, with the token of
/// `AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE` (read anew each time) or `AWS_CONTAINER_AUTHORIZATION_TOKEN`.
public struct ContainerCredentials: S3CredentialProvider {
    private let environment: [String: String]

    /// Reads the variables from a dictionary: the process's environment, unless another is given.
    public init(environment: [String: String] = ProcessEnvironment.variables) {
        self.environment = environment
    }

    public func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? {
        let url: String
        if let path = variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI") {
            url = "http://169.254.170.2\(path)"
        } else if let full = variable("AWS_CONTAINER_CREDENTIALS_FULL_URI") {
            guard Self.isAllowed(full) else {
                throw .credentials(
                    message: "AWS_CONTAINER_CREDENTIALS_FULL_URI is neither https nor a container's own address")
            }
            url = full
        } else {
            return nil
        }
        var headers = HTTPHeaders()
        if let token = try token() { headers.add(name: "Authorization", value: token) }
        let asked = MetadataRequest(url: url, headers: headers, timeout: .seconds(2))
        let body = try await asked.text(over: connections, of: "the container's credentials")
        return try TemporaryKeys(json: body, source: "the container's credentials").credentials
    }

    private func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }

    private func token() throws(ObjectStoreError) -> String? {
        var token = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN")
        if let path = variable("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE") {
            guard let content = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
                throw .credentials(message: "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE \(path) cannot be read")
            }
            token = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        }
        guard let token else { return nil }
        guard token.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw .credentials(message: "the container's authorization token has characters that no header takes")
        }
        return token
    }

    /// Whether the token may be sent there: over TLS, or within the machine and to the addresses of ECS and EKS.
    private static func isAllowed(_ url: String) -> Bool {
        guard let parts = URL(string: url), let host = parts.host else { return false }
        if parts.scheme == "https" { return true }
        let hosts = ["169.254.170.2", "169.254.170.23", "fd00:ec2::23", "[fd00:ec2::23]", "localhost", "::1", "[::1]"]
        return parts.scheme == "http" && (hosts.contains(host) || Self.isLoopback(host))
    }

    private static func isLoopback(_ host: String) -> Bool {
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}
