import Foundation
import StrataBrowsing
import StrataObjectStore
import SystemPackage

#if S3
import StrataS3
#endif

/// Where objects are kept, as it is written on the command line.
enum BucketURL {
    /// For help.
    static let help = "Where the log is kept: file:///directory, s3://bucket/prefix?region=...&endpoint=..."

    /// The object store that a URL names. This is the one place that knows of kinds of stores.
    ///
    /// - Throws: ``CommandError`` for URLs of other kinds, and for a directory that cannot be used.
    static func open(_ text: String) throws -> any ObjectStore {
        guard let url = URL(string: text), let scheme = url.scheme?.lowercased() else {
            throw CommandError("\(text) is no URL of a bucket: write file:///directory")
        }
        switch scheme {
        case "file":
            guard url.host(percentEncoded: false) ?? "" == "", url.path.hasPrefix("/") else {
                throw CommandError("\(text) has a host, or no absolute path: write file:///directory")
            }
            do throws(ObjectStoreError) {
                return try DirectoryObjectStore(FilePath(url.path))
            } catch {
                throw CommandError("\(error)")
            }
        case "s3":
            #if S3
            do throws(S3ConfigurationError) {
                return try S3ObjectStore(url: text)
            } catch {
                throw CommandError("\(error)")
            }
            #else
            throw CommandError(
                "this build of the command has no S3: build it with --traits S3, as make install does")
            #endif
        default: throw CommandError("\(scheme): is no kind of bucket: write file:///directory or s3://bucket/prefix")
        }
    }
}
