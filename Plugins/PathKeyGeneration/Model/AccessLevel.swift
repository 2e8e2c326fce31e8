/// The access level of the generated code.
enum AccessLevel: String, CaseIterable {
  case `internal`
  case package
  case `public`
}

extension AccessLevel: Comparable {
  /// Whether `one` is more restricted than `other`.
  static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

  private var rank: Int {
    switch self {
    case .internal: 0
    case .package: 1
    case .public: 2
    }
  }
}
