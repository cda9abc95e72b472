/// The `userInfo` of notifications that always have the same three sets.
///
/// A save posts two of them. Their dictionaries are copies of one that has the keys, whose values are exchanged by
/// index: hashing and comparing keys of the type `AnyHashable` would take a tenth of a small save.
struct SavedSetsInfo: @unchecked Sendable {
    // Unchecked: constant, and the values are empty strings.
    private let template: [AnyHashable: Any]
    private let inserted: Dictionary<AnyHashable, Any>.Index
    private let updated: Dictionary<AnyHashable, Any>.Index
    private let deleted: Dictionary<AnyHashable, Any>.Index

    init(inserted: String, updated: String, deleted: String) {
        let template: [AnyHashable: Any] = [inserted: "", updated: "", deleted: ""]
        func index(_ key: String) -> Dictionary<AnyHashable, Any>.Index {
            guard let index = template.index(forKey: key) else { preconditionFailure("the key was just set") }
            return index
        }
        (self.inserted, self.updated, self.deleted) = (index(inserted), index(updated), index(deleted))
        self.template = template
    }

    /// A dictionary with these sets.
    func filled(inserted: Any, updated: Any, deleted: Any) -> [AnyHashable: Any] {
        var info = template
        info.values[self.inserted] = inserted
        info.values[self.updated] = updated
        info.values[self.deleted] = deleted
        return info
    }
}
