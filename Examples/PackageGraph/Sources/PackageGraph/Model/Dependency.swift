import CoreData
import DebianIndex

/// One alternative of one group of a relationship field: `Depends: a | b (>= 2), c` makes three.
final class Dependency: NSManagedObject {
    private static let kindSlot = AttributeSlot<Int16>("kindValue")
    private static let groupSlot = AttributeSlot<Int32>("group")
    private static let alternativeSlot = AttributeSlot<Int16>("alternative")
    private static let relationSlot = AttributeSlot<Int16>("relationValue")
    private static let versionSlot = AttributeSlot<String?>("version")
    private static let qualifierSlot = AttributeSlot<String?>("qualifier")
    private static let unresolvedNameSlot = AttributeSlot<String?>("unresolvedName")
    private static let packageSlot = ToOneSlot<Package>("package")
    private static let targetSlot = ToOneSlot<Package>("target")

    /// What is stored for ``kind``; predicates compare it.
    var kindValue: Int16 {
        get { self[Self.kindSlot] }
        set { self[Self.kindSlot] = newValue }
    }

    var kind: DependencyKind? {
        get { DependencyKind(rawValue: kindValue) }
        set { kindValue = newValue?.rawValue ?? 0 }
    }

    /// Which of the field's comma-separated groups, from 0.
    var group: Int32 {
        get { self[Self.groupSlot] }
        set { self[Self.groupSlot] = newValue }
    }

    /// Which of the group's alternatives, from 0.
    var alternative: Int16 {
        get { self[Self.alternativeSlot] }
        set { self[Self.alternativeSlot] = newValue }
    }

    /// How the target's version has to compare with ``version``.
    var relation: VersionRelation? {
        get { VersionRelation(rawValue: self[Self.relationSlot]) }
        set { self[Self.relationSlot] = newValue?.rawValue ?? 0 }
    }

    var version: String? {
        get { self[Self.versionSlot] }
        set { self[Self.versionSlot] = newValue }
    }

    /// The architecture after the name, such as `any`.
    var qualifier: String? {
        get { self[Self.qualifierSlot] }
        set { self[Self.qualifierSlot] = newValue }
    }

    /// The name written when there is no ``target``.
    var unresolvedName: String? {
        get { self[Self.unresolvedNameSlot] }
        set { self[Self.unresolvedNameSlot] = newValue }
    }

    /// The package that has the field.
    var package: Package? {
        get { self[Self.packageSlot] }
        set { self[Self.packageSlot] = newValue }
    }

    /// The package named; nil when neither it nor a provider is in the index.
    var target: Package? {
        get { self[Self.targetSlot] }
        set { self[Self.targetSlot] = newValue }
    }
}
