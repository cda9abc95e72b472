internal import CStrataSupport

/// The program's classes by name, from the lists of types that the compiler leaves in each image.
///
/// Assumes: `swift_enumerateAllMetadataSections` gives `MetadataSections` of a version from 2 to 5, in which the
/// seventh entry is the list of types; records, context descriptors and metadata accessors are those of Swift's stable
/// ABI (TypeMetadata.rst). `classes.c` reads them.
/// If that were wrong: an image of another version is left out, and a class that is not found is made known by
/// `ManagedObjectClasses.register(_:)`; ``check()`` says so.
package enum ClassLists {
    private static let capacity = 64

    /// All classes whose own name, without module and outer types, this is. Generic ones are left out.
    ///
    /// - Complexity: O(n) in the types of the program.
    package static func classes(named name: String) -> [AnyClass] {
        let found = withUnsafeTemporaryAllocation(of: UnsafeRawPointer?.self, capacity: capacity) { buffer in
            buffer.initialize(repeating: nil)
            guard let base = buffer.baseAddress else { return [UnsafeRawPointer]() }
            let count = strata_classes_named(name, base, capacity)
            return buffer.prefix(min(count, capacity)).compactMap(\.self)
        }
        // A class is the address of its metadata.
        return found.map { unsafeBitCast($0, to: AnyClass.self) }
    }

    /// Whether the runtime lists types in a form that is known. Else classes are only found when they are registered.
    package static var isKnown: Bool { strata_unknown_images() == 0 }

    // MARK: Check

    /// Of this class no object is made.
    private final class StrataClassListsProbe {}

    static func check() -> String? {
        #if os(Linux)
        if !isKnown { return "the runtime lists types of \(strata_unknown_images()) images in an unknown version" }
        let found = classes(named: "StrataClassListsProbe")
        guard found.count == 1, found.first == StrataClassListsProbe.self else {
            return "a private class is found \(found.count) times by its name"
        }
        #endif
        return nil
    }
}
