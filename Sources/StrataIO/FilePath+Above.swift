package import SystemPackage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

extension FilePath {
    /// The directory that the last component is in: what `removingLastComponent()` leaves, or the working directory.
    ///
    /// That method uses collections which Swift's runtime has to look up conformances for, the first time in a process:
    /// a fifth of what opening a store takes.
    package var directoryAbove: FilePath {
        withPlatformString { start in
            // Separators are neither doubled nor at the end, in paths of this type.
            let separator = CChar(UInt8(ascii: "/"))
            var count = strlen(start)
            while count > 0, start[count - 1] != separator { count -= 1 }
            if count == 0 { return "." }
            // The root keeps its own.
            if count > 1 { count -= 1 }
            return withUnsafeTemporaryAllocation(of: CChar.self, capacity: count + 1) { above in
                for index in 0..<count { above.initializeElement(at: index, to: start[index]) }
                above.initializeElement(at: count, to: 0)
                return above.baseAddress.map { FilePath(platformString: $0) } ?? "."
            }
        }
    }

    /// The last component as a string, for the same reason without collections. Empty for the root.
    package var lastName: String {
        withPlatformString { start in
            let slash = strrchr(start, Int32(UInt8(ascii: "/")))
            return String(cString: slash.map { UnsafePointer($0) + 1 } ?? start)
        }
    }

    /// Whether the last component has an extension: what `extension` returns, for the same reason without collections.
    package func hasExtension(_ suffix: StaticString) -> Bool {
        withPlatformString { start in
            let count = strlen(start)
            let length = suffix.utf8CodeUnitCount
            // Before the dot there is a name, and not the separator.
            guard count > length + 1, memcmp(start + count - length, suffix.utf8Start, length) == 0 else {
                return false
            }
            let (dot, before) = (start[count - length - 1], start[count - length - 2])
            return dot == CChar(UInt8(ascii: ".")) && before != CChar(UInt8(ascii: "/"))
        }
    }
}
