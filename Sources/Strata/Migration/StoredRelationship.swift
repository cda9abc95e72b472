import Foundation

/// How a store keeps a relationship of a model that is not compiled: the one it was written with.
struct StoredRelationship {
    enum Storage: Hashable {
        /// A reference in the row, and under this name as postings; nil without.
        case slot(postings: String?)
        /// The postings of this name.
        case inverse(postings: String)
        /// Rows of the hidden entity of this name, of which `side` refers to the owner.
        case link(String, side: Int)
    }

    let description: NSRelationshipDescription
    let storage: Storage
    /// The relationship is its own inverse.
    let isSymmetric: Bool

    /// - Parameter entity: that has the relationship; it may have inherited it.
    init(_ description: NSRelationshipDescription, of entity: NSEntityDescription) {
        self.description = description
        let own = Self.storedName(description.name, entity)
        let inverse = description.inverseRelationship
        let other = inverse.flatMap { inverse in
            description.destinationEntity.map { Self.storedName(inverse.name, $0) }
        }
        isSymmetric = other == own
        if !description.isToMany {
            storage = .slot(postings: inverse?.isToMany == true ? own : nil)
        } else if let other, inverse?.isToMany == false {
            storage = .inverse(postings: other)
        } else {
            let name = min(own, other ?? own)
            storage = .link(name, side: own == name ? 0 : 1)
        }
    }

    /// As ``RelationshipShape/storedName``: by the entity that declares it.
    private static func storedName(_ name: String, _ entity: NSEntityDescription) -> String {
        var declaring = entity
        while let parent = declaring.superentity, parent.relationshipsByName[name] != nil { declaring = parent }
        return "\(declaring.name ?? "").\(name)"
    }
}
