internal import OperationCore

/// An event of one page, as a handler receives it.
enum PageEvent<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  case started(PageID)
  case result(PageID, Result<Page<PageID, PageValue>, Failure>)
  case ended(PageID)
}

/// The kind of a ``PageEventEntry``.
@usableFromInline
enum PageEventKind: Sendable {
  case started
  case yielded
  case returned
  case ended
}

/// A ``PageEvent`` as a log stores it.
///
/// A struct with room for every kind of event: releasing an enumeration of the user's types looks up their metadata.
@usableFromInline
struct PageEventEntry<PageID: Hashable & Sendable, PageValue: Sendable, Failure: Error>: Sendable {
  @usableFromInline let kind: PageEventKind
  @usableFromInline let id: PageID
  @usableFromInline let value: PageValue?
  @usableFromInline let error: Failure?

  @inlinable
  init(_ kind: PageEventKind, of id: PageID, value: PageValue? = nil, error: Failure? = nil) {
    self.kind = kind
    self.id = id
    self.value = value
    self.error = error
  }

  @inlinable
  init(_ kind: PageEventKind, of id: PageID, _ result: Result<Page<PageID, PageValue>, Failure>) {
    switch result {
    case .success(let page): self.init(kind, of: id, value: page.value)
    case .failure(let error): self.init(kind, of: id, error: error)
    }
  }

  /// The reason of the result. Nil for a start and an end.
  var reason: OperationResultUpdateReason? {
    switch self.kind {
    case .yielded: .yieldedResult
    case .returned: .returnedFinalResult
    case .started, .ended: nil
    }
  }

  var event: PageEvent<PageID, PageValue, Failure> {
    switch self.kind {
    case .started: .started(self.id)
    case .ended: .ended(self.id)
    case .yielded, .returned:
      if let error = self.error {
        .result(self.id, .failure(error))
      } else if let value = self.value {
        .result(self.id, .success(Page(id: self.id, value: value)))
      } else {
        preconditionFailure("A result has a value or an error.")
      }
    }
  }
}
