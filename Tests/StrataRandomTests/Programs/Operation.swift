/// One step of a program. Objects are named by their keys.
enum Operation {
    case insert(Int, entity: String)
    case set(Int, String, Value)
    /// Of an attribute that is not stored.
    case setTransient(Int, String, Value)
    case point(Int, String, Int?)
    case add(Int, String, Int)
    case remove(Int, String, Int)
    case replace(Int, String, [Int])
    case delete(Int)
    case endEvent
    case save
    case rollback
    case refresh(Int, merging: Bool)
    case refreshAll
    /// The program lets go of its objects.
    case forget
    /// What the context shows is compared with the oracle's world.
    case compare
    /// The same for what a new context reads from the store.
    case compareStore
    /// The same for what a follower reads, and a request to it.
    case compareFollower
    case askFollower(Question)
    case ask(Question, inNewContext: Bool)
    /// A results controller of the context in use is compared with its mirror at the end of each event, until the
    /// program leaves the context.
    case follow(Question, section: Condition.Path?)
    case bulk(Bulk)
    /// A batch update of one attribute, and a batch delete.
    case update(String, Condition?, String, Value)
    case erase(String, Condition?)
    case diverge(Divergence)
    /// A context stays at the newest generation, and is asked later.
    case pin
    case askPinned(Question)
    /// The history since it was last looked at is compared with what has changed.
    case checkHistory
    case undo
    case redo
    /// The store is opened with another model.
    case migrate(ModelChange)
    /// The next steps work in the other context, which is refreshed.
    case handOver
    case beginChild
    case endChild(saving: Bool)
    case reopen
    case compact

    /// Whether pending changes are processed at its beginning at the latest.
    var endsEvent: Bool {
        switch self {
        case .insert, .set, .setTransient, .point, .add, .remove, .replace, .delete, .refresh, .forget: false
        default: true
        }
    }
}
