/// How visible the generated code is.
enum AccessLevel: String, CaseIterable {
  case `internal`
  case package
  case `public`
}

extension AccessLevel: Comparable {
  /// Whether less code sees the one than the other.
  static func < (one: Self, other: Self) -> Bool { one.rank < other.rank }

  private var rank: Int {
    switch self {
    case .internal: 0
    case .package: 1
    case .public: 2
    }
  }
}
