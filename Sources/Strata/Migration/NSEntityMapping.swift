import Foundation

/// How a migration gets the objects of one entity of the destination from those of one of the source.
///
/// Thread rule: as for ``NSPropertyMapping``.
open class NSEntityMapping: NSObject, KeyValueCoding {
    /// The name, by which expressions find what the mapping made; `Source->Destination` unless it is set.
    open var name: String! {
        get { explicitName ?? "\(sourceEntityName ?? "")->\(destinationEntityName ?? "")" }
        set { explicitName = newValue }
    }
    private var explicitName: String?
    /// What is done with the objects. Default ``NSEntityMappingType/undefinedEntityMappingType``, which is treated as
    /// ``NSEntityMappingType/transformEntityMappingType``.
    open var mappingType: NSEntityMappingType = .undefinedEntityMappingType
    /// The entity whose objects are migrated; nil for one that is new.
    open var sourceEntityName: String?
    /// The version hash of that entity that the mapping was made for; nil for any.
    open var sourceEntityVersionHash: Data?
    /// The entity whose objects are made; nil for one that is gone.
    open var destinationEntityName: String?
    /// The version hash of that entity that the mapping was made for; nil for any.
    open var destinationEntityVersionHash: Data?
    /// How the attributes get their values. Attributes that are not named keep their default values.
    open var attributeMappings: [NSPropertyMapping]?
    /// How the relationships get theirs, once all objects are there.
    open var relationshipMappings: [NSPropertyMapping]?
    /// What gives the source objects, as an array or a fetch request; nil for all of the entity, without subentities.
    open var sourceExpression: NSExpression?
    /// What the program likes to keep with it.
    open var userInfo: [AnyHashable: Any]?
    /// The name of the policy's class; nil for ``NSEntityMigrationPolicy``.
    open var entityMigrationPolicyClassName: String?

    /// The value of a property by its name, also of one that a subclass stores, for expressions such as
    /// `$entityMapping.name`. Nil for other names.
    open func value(forKey key: String) -> Any? {
        key == "name" ? name : KeyValueAccess.reflected(self, key: key)
    }

    /// Whether both map the same entities in the same way.
    open override func isEqual(_ object: Any?) -> Bool {
        guard let other = object as? NSEntityMapping else { return false }
        if other === self { return true }
        return name == other.name && mappingType == other.mappingType
            && sourceEntityName == other.sourceEntityName && sourceEntityVersionHash == other.sourceEntityVersionHash
            && destinationEntityName == other.destinationEntityName
            && destinationEntityVersionHash == other.destinationEntityVersionHash
            && (attributeMappings ?? []) == (other.attributeMappings ?? [])
            && (relationshipMappings ?? []) == (other.relationshipMappings ?? [])
            && sourceExpression == other.sourceExpression
            && entityMigrationPolicyClassName == other.entityMigrationPolicyClassName
            && NSPropertyMapping.isSame(userInfo, other.userInfo)
    }

    /// Agrees with equality: changes with the name.
    open override var hash: Int { name.hashValue }
}
