import Foundation

/// What a context was last asked for of what it looks up for every object: one after another as a rule asks for the
/// same.
///
/// Nothing here is kept alive, nor needs to be: identities, shapes and entities in use are never freed.
struct LookupMemory {
    /// The store that an ID was looked up for, as of a generation of the coordinator's stores.
    var store: (identity: ObjectIdentifier, generation: Int, index: UInt16)?
    /// The class that an object was created of, and its entity.
    var entity: (type: ObjectIdentifier, entity: Unmanaged<NSEntityDescription>)?
    /// The entity that an object was created of, and what it stands for in the context's model.
    var shape: (entity: ObjectIdentifier, shape: Unmanaged<EntityShape>)?
}
