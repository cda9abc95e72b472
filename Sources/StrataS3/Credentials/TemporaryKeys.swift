import Foundation
import StrataObjectStore

/// Temporary credentials as the services of containers and instances write them.
struct TemporaryKeys {
    let credentials: S3Credentials

    private struct Content: Decodable {
        var Code: String?
        var AccessKeyId: String?
        var SecretAccessKey: String?
        var Token: String?
        var Expiration: String?
    }

    /// - Parameter source: What they are, for the error.
    init(json text: String, source: String) throws(ObjectStoreError) {
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(text.utf8)) else {
            throw .credentials(message: "\(source) are not JSON")
        }
        if let code = content.Code, code != "Success" {
            throw .credentials(message: "\(source) could not be had: \(code.prefix(80))")
        }
        guard let key = content.AccessKeyId, let secret = content.SecretAccessKey else {
            throw .credentials(message: "\(source) have no keys")
        }
        var expiration: Double?
        if let text = content.Expiration {
            guard let moment = Timestamp(iso8601: text) else {
                throw .credentials(message: "\(source) end at a time that cannot be read")
            }
            expiration = moment.seconds
        }
        credentials = S3Credentials(
            accessKeyID: key, secretAccessKey: secret, sessionToken: content.Token, expiration: expiration)
    }
}
