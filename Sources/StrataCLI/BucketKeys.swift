import ArgumentParser
import Foundation
import StrataBrowsing
import StrataObjectStore

#if S3
import StrataEncryption
#endif

/// The keys of a bucket, as commands take them.
struct BucketKeys: ParsableArguments {
    /// Where keys are taken from if no file is named.
    static let variable = "STRATA_KEYS"

    @Option(
        help: """
            The bucket is encrypted with the keys in this file: a line for each, its number and 64 hexadecimal digits. \
            The highest number is written with. Without a file, the environment's STRATA_KEYS has such lines.
            """,
        completion: .file())
    var keyFile: String?

    /// What the bucket is encrypted with; nil if no keys are given.
    ///
    /// - Throws: ``CommandError`` for a file that cannot be read and for what are no keys.
    func cipher(_ environment: [String: String] = ProcessInfo.processInfo.environment) throws -> (any ObjectCipher)? {
        let text = environment[Self.variable] ?? ""
        guard keyFile != nil || !text.isEmpty else { return nil }
        #if S3
        do throws(ObjectCipherError) {
            guard let keyFile else { return AESGCMCipher(try EncryptionKeys(text: text)) }
            return AESGCMCipher(try EncryptionKeys(contentsOfFile: keyFile))
        } catch {
            throw CommandError(keyFile == nil ? "\(Self.variable): \(error)" : "\(error)")
        }
        #else
        throw CommandError(
            "this build of the command has no encryption: build it with --traits S3, as make install does")
        #endif
    }
}
