import Foundation
public import StrataObjectStore

/// A profile of the files that AWS's tools share: `~/.aws/credentials` and `~/.aws/config`.
///
/// The files are read anew each time, so that keys which are rotated in them are found without a restart. Profiles that
/// only name a role, a process or a single sign-on are refused: `aws configure export-credentials` writes their keys.
public struct ProfileCredentials: S3CredentialProvider {
    private let environment: [String: String]
    private let profile: String?

    /// Reads a profile: the one given, or that of `AWS_PROFILE`, or `default`. `AWS_SHARED_CREDENTIALS_FILE` and
    /// `AWS_CONFIG_FILE` name other files.
    public init(profile: String? = nil, environment: [String: String] = ProcessEnvironment.variables) {
        self.environment = environment
        self.profile = profile
    }

    public func credentials(over connections: S3Connections) async throws(ObjectStoreError) -> S3Credentials? {
        let files = AWSFiles(profile: profile, environment: environment)
        let settings = files.settings()
        guard let settings else {
            guard files.isNamed else { return nil }
            throw .credentials(message: "there is no profile \(files.profile) in \(files.paths)")
        }
        let key = settings["aws_access_key_id"] ?? ""
        let secret = settings["aws_secret_access_key"] ?? ""
        if !key.isEmpty && !secret.isEmpty {
            return S3Credentials(
                accessKeyID: key, secretAccessKey: secret, sessionToken: settings["aws_session_token"])
        }
        if !key.isEmpty || !secret.isEmpty {
            throw .credentials(message: "the profile \(files.profile) in \(files.paths) has only one of its two keys")
        }
        let unsupported = ["role_arn", "credential_process", "sso_session", "sso_start_url", "web_identity_token_file"]
        if let setting = unsupported.first(where: { settings[$0] != nil }) {
            throw .credentials(
                message: "the profile \(files.profile) in \(files.paths) has \(setting), which is not supported")
        }
        guard files.isNamed else { return nil }
        throw .credentials(message: "the profile \(files.profile) in \(files.paths) has no keys")
    }
}
