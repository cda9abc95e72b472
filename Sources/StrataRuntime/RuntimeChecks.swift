/// What Strata assumes of Swift's runtime beyond its documentation, and whether it is so.
///
/// Each assumption has a file of this module, which says what it is, where it is written down, and what happens if it
/// fails. `docs/unsafe.md` lists them, with what to look at before a new toolchain is used.
@usableFromInline
package enum RuntimeChecks {
    /// The checks by the assumption's name.
    package static let all: [(name: String, check: @Sendable () -> String?)] = [
        ("ReferenceCounts", { ReferenceCounts.check() }),
        ("BorrowedReferences", { BorrowedReferences.check() }),
        ("ReferenceLayout", { ReferenceLayout.check() }),
        ("CollectionLayout", { CollectionLayout.check() }),
        ("DictionaryLayout", { DictionaryLayout.check() }),
        ("ExistentialLayout", { ExistentialLayout.check() }),
        ("ClassMetadata", { ClassMetadata.check() }),
        ("ObjectClass", { ObjectClass.check() }),
        ("ClassLists", { ClassLists.check() }),
        ("NamedClasses", { NamedClasses.check() }),
        ("ByteTuples", { ByteTuples.check() }),
        ("BridgedTypes", { BridgedTypes.check() }),
    ]

    /// What is not as it is assumed to be, a line for each. Empty with a toolchain that Strata can be used with.
    ///
    /// - Complexity: O(n) in the types of the program; about a millisecond.
    package static func failures() -> [String] {
        all.compactMap { name, check in check().map { "\(name): \($0)" } }
    }

    /// In debug builds, stops the program if an assumption fails. The work is done once.
    @inlinable
    package static func require() {
        #if DEBUG
        _ = isRight
        #endif
    }

    @usableFromInline static let isRight: Bool = {
        let found = failures()
        precondition(found.isEmpty, "Strata does not know this Swift runtime: " + found.joined(separator: "; "))
        return true
    }()
}
