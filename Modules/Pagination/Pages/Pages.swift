/// The pages of a paginated operation: an ordered collection in which each identifier occurs once.
///
/// ```swift
/// var pages: Pages<Int, [Post]> = [Page(id: 1, value: posts)]
/// pages.append(Page(id: 2, value: morePosts))
/// pages[id: 1]?.value.removeLast()
/// pages[0].value.append(post)
/// pages.remove(id: 2)
/// ```
///
/// Finding a page, adding one at an end, replacing and removing one take O(log n), with a logarithm to base 16: in
/// practice the time does not grow with the number of pages. That also holds while copies from before the change are
/// kept, as copies share their common nodes.
public struct Pages<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// A page with its revision and date.
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline var page: Page<PageID, PageValue>
    @usableFromInline var revision: Revision
    /// The date at which it was set or loaded in a state, or `PageTime.none` if no state has contained it yet.
    @usableFromInline var time: PageTime

    @inlinable
    init(page: Page<PageID, PageValue>, revision: Revision, time: PageTime = .none) {
      self.page = page
      self.revision = revision
      self.time = time
    }
  }

  /// The pages by their places: integers that ascend from the first page to the last, with gaps where pages were
  /// removed. An insertion in the middle numbers all pages anew.
  @usableFromInline var entries = OrderedTree<Entry>()
  /// The places of pages by the hash values of their identifiers, or by the next free integer after that.
  @usableFromInline var places = OrderedTree<Int>()

  /// Creates a value without pages.
  @inlinable
  public init() {}

  /// Creates a value with the pages of a sequence, in its order.
  ///
  /// Of pages with the same identifier the last is kept, in the place of the first.
  @inlinable
  public init(_ pages: some Sequence<Page<PageID, PageValue>>) {
    for page in pages { self.append(page) }
  }
}

// MARK: - Finding

extension Pages {
  /// The page with an identifier.
  ///
  /// Setting a page replaces the one with that identifier, or appends the page if there is none. Setting nil removes
  /// the page. If the new page has another identifier than `id`, it replaces the page with `id` all the same, and a
  /// page with its own identifier is removed.
  @inlinable
  public subscript(id id: PageID) -> Page<PageID, PageValue>? {
    get { self.entry(of: id)?.page }
    set {
      guard let newValue else {
        self.remove(id: id)
        return
      }
      self.replace(id, with: newValue)
    }
  }

  /// Replaces the page with the identifier `id`, or appends the page if there is none.
  @inlinable
  mutating func replace(_ id: PageID, with page: Page<PageID, PageValue>) {
    guard page.id != id, self.contains(id: id) else { return self.append(page) }
    self.remove(id: page.id)
    let slot = self.slot(of: id)
    guard let place = slot.place else { return }
    self.free(slot.key)
    self.places.insert(place, for: self.slot(of: page.id).key)
    self.entries.insert(Entry(page: page, revision: .now()), for: place)
  }

  /// Whether a page has the identifier.
  @inlinable
  public func contains(id: PageID) -> Bool { self.place(of: id) != nil }

  /// The index of the page with an identifier, or nil if no page has it.
  @inlinable
  public func index(id: PageID) -> Int? {
    self.place(of: id).flatMap { self.entries.offset(of: $0) }
  }

  /// The identifiers of the pages, in order.
  @inlinable
  public var ids: some RandomAccessCollection<PageID> & Sendable { PageIdentifiers(pages: self) }

  @inlinable
  func entry(of id: PageID) -> Entry? {
    self.place(of: id).flatMap { self.entries[$0] }
  }

  @inlinable
  func place(of id: PageID) -> Int? { self.slot(of: id).place }

  /// The key of an identifier in `places`, and the place stored there. The place is nil if the key is free.
  @inlinable
  func slot(of id: PageID) -> (key: Int, place: Int?) {
    var key = id.hashValue
    while let place = self.places[key] {
      if self.entries[place]?.page.id == id { return (key, place) }
      key &+= 1
    }
    return (key, nil)
  }
}

// MARK: - Adding and removing

extension Pages {
  /// Adds a page at the end. If a page with the same identifier exists, the page replaces that one instead.
  @inlinable
  public mutating func append(_ page: Page<PageID, PageValue>) {
    self.insert(Entry(page: page, revision: .now()), atEnd: true)
  }

  /// Adds a page at the beginning. If a page with the same identifier exists, the page replaces that one instead.
  @inlinable
  public mutating func prepend(_ page: Page<PageID, PageValue>) {
    self.insert(Entry(page: page, revision: .now()), atEnd: false)
  }

  /// Removes the page with an identifier, and returns it.
  @discardableResult
  @inlinable
  public mutating func remove(id: PageID) -> Page<PageID, PageValue>? {
    let slot = self.slot(of: id)
    guard let place = slot.place, let entry = self.entries[place] else { return nil }
    self.free(slot.key)
    self.entries.removeValue(for: place)
    return entry.page
  }

  /// Removes all pages.
  @inlinable
  public mutating func removeAll() {
    self = Pages()
  }

  /// Replaces the page with the same identifier, or adds the page at an end if there is none.
  ///
  /// - Parameters:
  ///   - entry: The page, with its revision and its date.
  ///   - atEnd: Whether a page that is added becomes the last one. Otherwise it becomes the first one.
  ///   - revision: An existing page with a revision later than this one is kept; nil to replace any page.
  @inlinable
  mutating func insert(_ entry: Entry, atEnd: Bool, unlessNewerThan revision: Revision? = nil) {
    let slot = self.slot(of: entry.page.id)
    if let place = slot.place {
      if let revision, let present = self.entries[place], present.revision > revision { return }
      self.entries.insert(entry, for: place)
    } else if atEnd {
      let place = (self.entries.last?.key ?? -1) + 1
      self.places.insert(place, for: slot.key)
      self.entries.append(entry, for: place)
    } else {
      let place = (self.entries.first?.key ?? 1) - 1
      self.places.insert(place, for: slot.key)
      self.entries.insert(entry, for: place)
    }
  }

  /// Frees a key of `places` that is in use.
  @inlinable
  mutating func free(_ key: Int) {
    self.places.removeValue(for: key)
    // The places after it may be stored there only because that key was taken.
    var key = key &+ 1
    while let place = self.places[key], let page = self.entries[place]?.page {
      self.places.removeValue(for: key)
      self.places.insert(place, for: self.slot(of: page.id).key)
      key &+= 1
    }
  }
}
