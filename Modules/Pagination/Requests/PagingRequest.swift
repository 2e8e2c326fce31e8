/// The request of one run of a paginated operation.
public enum PagingRequest: Hashable, Sendable {
  /// The initial page, as there are no pages.
  case initialPage

  /// The page after the last one.
  case nextPage

  /// The page before the first one.
  case previousPage

  /// All present pages again.
  case allPages
}

extension PagingRequest {
  /// Returns whether a new run of this request waits for an active run of `other`.
  ///
  /// The next and the previous page may load at the same time. A refetch and loads of these pages wait for each other.
  @usableFromInline
  func waits(for other: PagingRequest) -> Bool {
    switch self {
    case .initialPage: other == .initialPage
    case .nextPage: other != .previousPage
    case .previousPage: other != .nextPage
    case .allPages: true
    }
  }
}
