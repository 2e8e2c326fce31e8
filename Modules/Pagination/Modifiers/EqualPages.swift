public import OperationCore

extension StatefulOperationRequest where State: PaginatedStateProtocol, State.PageValue: Equatable {
  /// Keeps the value of a page in the store when an equal one comes for that page.
  ///
  /// The state then counts and dates an update, but the page has the same value as before: the same objects and
  /// buffers, so that comparing both is quick. Values are compared with the store's without optimistic updates,
  /// in the task of the run, with no lock held. Outside a store the modifier does nothing.
  ///
  /// - Complexity: That of `==` on the value of each page that comes.
  public func keepsEqualValues() -> ModifiedOperation<Self, EqualValueKeeping<Self>> {
    self.modifier(
      EqualValueKeeping { value, context in
        context.stateOfRunningStore(State.self).map { value.keepingEqualPages(of: $0.paginatedState.currentValue) }
          ?? value
      }
    )
  }
}

extension PaginatedOperationValue where PageValue: Equatable {
  fileprivate func keepingEqualPages(of old: Pages<PageID, PageValue>) -> Self {
    func kept(_ page: Page<PageID, PageValue>) -> Page<PageID, PageValue> {
      guard let oldPage = old[id: page.id], oldPage.value == page.value else { return page }
      return oldPage
    }
    return switch self {
    case .initialPage(let page): .initialPage(kept(page))
    case .nextPage(let page): .nextPage(page.map(kept))
    case .previousPage(let page): .previousPage(page.map(kept))
    // Not `map`: it keeps the fetched page where the page that `kept` returns is equal to it.
    case .allPages(let pages): .allPages(pages.reduce(into: []) { $0.append(kept($1)) })
    }
  }
}
