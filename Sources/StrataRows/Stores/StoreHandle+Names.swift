import StrataLog

extension StoreHandle {
    /// A reference with the entity of the object's row. Whoever has named the object may have taken another entity of
    /// the hierarchy, which has the same keys; what is found by reference would not find it by that.
    ///
    /// - Returns: the reference itself if there is no such row, or it cannot be read.
    /// - Complexity: O(1); reads one block when it is not cached, if the entity has heirs or ancestors.
    package func named(_ ref: ObjectRef, in snapshot: @autoclosure () -> Snapshot) -> ObjectRef {
        guard let shape = map.shape(ref.entity), shape.family.count > 1 || map.root(shape) != ref.entity,
            let row = try? snapshot().row(ref), map.shape(row.block.entity) != nil
        else { return ref }
        return ObjectRef(entity: row.block.entity, key: ref.key)
    }
}
