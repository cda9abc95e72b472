import StrataSupport

/// From which end semi-joins are answered. Only tests change it, to compare the results.
package enum SemiJoinUse: Sendable {
    /// From the end that is likely to be quicker.
    case automatic
    /// From the members, by a scan of the links between them and their owners.
    case members
    /// From the owners, object by object.
    case owners

    package static let setting = ScopedSetting(SemiJoinUse.automatic)

    package static var current: SemiJoinUse { setting.value }
}
