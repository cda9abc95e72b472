// StrataTestKit
