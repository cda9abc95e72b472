public import StrataObjectStore

/// `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY` and `AWS_SESSION_TOKEN`.
public struct EnvironmentCredentials: S3CredentialProvider {
    private let environment: [String: String]

    /// Reads the variables from a dictionary: the process's environment, unless another is given.
    public init(environment: [String: String] = ProcessEnvironment.variables) {
        self.environment = environment
    }

    public func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? {
        let key = environment["AWS_ACCESS_KEY_ID"] ?? ""
        let secret = environment["AWS_SECRET_ACCESS_KEY"] ?? ""
        if key.isEmpty && secret.isEmpty { return nil }
        guard !key.isEmpty, !secret.isEmpty else {
            let missing = key.isEmpty ? "AWS_ACCESS_KEY_ID" : "AWS_SECRET_ACCESS_KEY"
            throw .credentials(message: "\(missing) is not set, and the other of the two is")
        }
        return S3Credentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: environment["AWS_SESSION_TOKEN"])
    }
}
