// Variables in the expressions of mapping models.

/// The migration manager, in expressions of mappings.
public let NSMigrationManagerKey: String = "manager"

/// The object that is migrated, in expressions of mappings.
public let NSMigrationSourceObjectKey: String = "source"

/// The object that it becomes, in expressions of mappings.
public let NSMigrationDestinationObjectKey: String = "destination"

/// The mapping of the entity, in expressions of mappings.
public let NSMigrationEntityMappingKey: String = "entityMapping"

/// The mapping of the property, in expressions of mappings.
public let NSMigrationPropertyMappingKey: String = "propertyMapping"

/// The migration policy, in expressions of mappings.
public let NSMigrationEntityPolicyKey: String = "entityPolicy"
