internal import OperationCore

/// What somebody asks a paginated operation for.
enum PageDemand: Hashable, Sendable {
  /// All pages anew, or the initial one when there is none: what a run does that nobody has asked for pages.
  case whatIsThere
  case next
  case previous
  case all

  /// What the demand comes to with pages or without.
  func request(hasPages: Bool) -> PagingRequest {
    switch self {
    case .whatIsThere: hasPages ? .allPages : .initialPage
    case .next: hasPages ? .nextPage : .initialPage
    case .previous: hasPages ? .previousPage : .initialPage
    case .all: .allPages
    }
  }
}

/// How the context of a run says what pages it is about.
enum PagingEntry<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  /// The run was asked for this.
  case demand(PageDemand)

  /// The run has departed.
  case run(PagingRun<PageID, PageValue, Failure>)

  /// The key of the entry.
  enum Key: OperationContext.Key {
    static var defaultValue: PagingEntry? { nil }
  }

  var demand: PageDemand {
    switch self {
    case .demand(let demand): demand
    case .run(let run): run.demand
    }
  }

  var run: PagingRun<PageID, PageValue, Failure>? {
    if case .run(let run) = self { run } else { nil }
  }
}
