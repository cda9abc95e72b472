import Foundation
import NIOHTTP1
public import StrataObjectStore

/// Credentials of a role for a token that somebody else has issued, as Kubernetes does for pods: `AWS_ROLE_ARN` and
/// `AWS_WEB_IDENTITY_TOKEN_FILE`, which is read anew each time.
///
/// `AWS_ROLE_SESSION_NAME` names the session, `AWS_ENDPOINT_URL_STS` another token service than that of `AWS_REGION`.
public struct WebIdentityCredentials: S3CredentialProvider {
    private let environment: [String: String]

    /// Reads the variables from a dictionary: the process's environment, unless another is given.
    public init(environment: [String: String] = ProcessEnvironment.variables) {
        self.environment = environment
    }

    public func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? {
        guard let path = variable("AWS_WEB_IDENTITY_TOKEN_FILE") else { return nil }
        guard let role = variable("AWS_ROLE_ARN") else {
            throw .credentials(message: "AWS_WEB_IDENTITY_TOKEN_FILE is set, and AWS_ROLE_ARN is not")
        }
        guard let content = try? Data(contentsOf: URL(fileURLWithPath: path)) else {
            throw .credentials(message: "AWS_WEB_IDENTITY_TOKEN_FILE \(path) cannot be read")
        }
        let token = String(decoding: content, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        let region = variable("AWS_REGION") ?? variable("AWS_DEFAULT_REGION") ?? "us-east-1"
        let form = [
            ("Action", "AssumeRoleWithWebIdentity"), ("Version", "2011-06-15"), ("RoleArn", role),
            ("RoleSessionName", variable("AWS_ROLE_SESSION_NAME") ?? "strata"), ("WebIdentityToken", token),
        ]
        let body = form.map { "\($0.0)=\(URIEncoding.encoded($0.1))" }.joined(separator: "&")
        let asked = MetadataRequest(
            url: variable("AWS_ENDPOINT_URL_STS") ?? "https://sts.\(region).amazonaws.com/", method: .POST,
            headers: ["Content-Type": "application/x-www-form-urlencoded"], body: Array(body.utf8),
            timeout: .seconds(10))
        let what = "the credentials of the role \(role)"
        let answer = try await asked.text(over: connections, of: what)
        let keys = (try? XMLElement(parsing: Array(answer.utf8)))?
            .child("AssumeRoleWithWebIdentityResult")?.child("Credentials")
        guard let key = keys?.child("AccessKeyId")?.text, let secret = keys?.child("SecretAccessKey")?.text,
            let session = keys?.child("SessionToken")?.text,
            let end = (keys?.child("Expiration")?.text).flatMap(Timestamp.init(iso8601:))
        else { throw .credentials(message: "\(what) cannot be read from the token service's answer") }
        return S3Credentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: session, expiration: end.seconds)
    }

    private func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
}
