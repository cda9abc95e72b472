import StrataLog
import StrataSupport

/// The memory that Strata keeps in a process to be faster next time: decoded blocks and columns of all open stores, and
/// threads. Safe to use from any thread.
///
/// It is taken as far as something is read, and given back when it is not: what was not used for ``idleSeconds`` goes,
/// and then the C library's heap gives freed memory back to the system. Objects, indexes and the rows of stores in
/// memory are not part of it.
public enum StrataMemory {
    /// What all stores and threads of the process may keep together, in bytes. By default about a twenty-fifth of the
    /// machine's memory, 320 MiB at least and 1.25 GiB at most.
    ///
    /// A store that is opened gets four fifths of it at most for blocks, and a fifth for columns; once all of it is
    /// used, stores that have more than an equal share give way to others. A smaller budget holds at once, a larger one
    /// for stores that are opened afterwards. 0 keeps nothing.
    ///
    /// - Precondition: not negative.
    public static var budgetBytes: Int {
        get { MemoryBudget.shared.limitBytes }
        set {
            guard newValue >= 0 else {
                programmerError(
                    "StrataMemory.budgetBytes", "\(newValue) is negative", "Set a number of bytes, or 0 to keep nothing"
                )
            }
            MemoryBudget.shared.limitBytes = newValue
        }
    }

    /// For how many seconds something must not have been used to be given back, which happens after twice that at the
    /// latest. 15 by default.
    ///
    /// - Precondition: a hundredth of a second at least, a day at most.
    public static var idleSeconds: Double {
        get { Double(MemoryBudget.shared.intervalMilliseconds) / 1_000 }
        set {
            guard newValue >= 0.01, newValue <= 86_400 else {
                programmerError(
                    "StrataMemory.idleSeconds", "\(newValue) is less than 0.01 or more than a day",
                    "Set some seconds")
            }
            MemoryBudget.shared.intervalMilliseconds = Int(newValue * 1_000)
        }
    }

    /// What is kept at the moment, in bytes, by the stores' own estimates.
    public static var keptBytes: Int { max(0, MemoryBudget.shared.heldBytes) }

    /// Gives everything back at once that can be, as a service does that is told that memory is short. What is read
    /// next is read as after opening.
    ///
    /// - Complexity: O(kept blocks); some milliseconds, for which threads that allocate memory may wait.
    public static func giveBack() { MemoryBudget.shared.giveBackEverything() }
}
