extension Pages where PageValue: Sequence {
  /// The elements of all pages in one list, each identifier once.
  ///
  /// While a list is read page by page, elements move: a new one at the top pushes the last of each page into the next
  /// page. Of several elements with one identifier, this is the one of the page that was fetched or set last, in its place
  /// there; within a page, the first.
  ///
  /// ```swift
  /// let posts = feed.currentValue.elements(uniqueBy: \.slug)
  /// ```
  ///
  /// - Parameter id: Returns the identifier of an element.
  /// - Returns: The elements.
  /// - Throws: The error of `id`.
  /// - Complexity: O(*n*) in the number of elements, and O(*p* log *p*) in the number of pages.
  public func elements<ID: Hashable, E: Error>(
    uniqueBy id: (PageValue.Element) throws(E) -> ID
  ) throws(E) -> [PageValue.Element] {
    var pages: [(entry: Entry, elements: [PageValue.Element])] = []
    self.entries.visit { pages.append(($0, [])) }
    // Newest first, so that the first element with an identifier is the one to keep. Pages of one run have one revision.
    let newestFirst = pages.indices.sorted {
      (pages[$1].entry.revision, $0) < (pages[$0].entry.revision, $1)
    }
    var known: Set<ID> = []
    for index in newestFirst {
      for element in pages[index].entry.page.value where try known.insert(id(element)).inserted {
        pages[index].elements.append(element)
      }
    }
    return pages.flatMap(\.elements)
  }
}

extension Pages where PageValue: Sequence, PageValue.Element: Identifiable {
  /// The elements of all pages in one list, each once: see ``elements(uniqueBy:)``.
  ///
  /// - Complexity: O(*n*) in the number of elements, and O(*p* log *p*) in the number of pages.
  public var uniqueElements: [PageValue.Element] {
    self.elements { $0.id }
  }
}
