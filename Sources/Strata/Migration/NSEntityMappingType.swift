/// What a migration does with the objects of an entity.
public enum NSEntityMappingType: UInt, Sendable {
    /// Not said; the developer has to.
    case undefinedEntityMappingType = 0
    /// What a migration policy of the developer's own does.
    case customEntityMappingType = 1
    /// The entity is new.
    case addEntityMappingType = 2
    /// The entity is gone, and its objects with it.
    case removeEntityMappingType = 3
    /// The objects are taken over as they are.
    case copyEntityMappingType = 4
    /// The objects are taken over and changed.
    case transformEntityMappingType = 5
}
