import Foundation
import SystemPackage

extension URL {
    /// Whether the URL is /dev/null or a path below it, where no file can be: a store there is one in memory.
    ///
    /// Each opening makes a store of its own, also at a URL that another store has: the names below /dev/null are for
    /// their readers.
    package var isNullDevice: Bool {
        isFileURL && FilePath(path).lexicallyNormalized().starts(with: "/dev/null")
    }
}
