/// The pages of a paginated operation: in the order of their arrival at either end, each identifier once.
///
/// ```swift
/// var pages: Pages<Int, [Post]> = [Page(id: 1, value: posts)]
/// pages.append(Page(id: 2, value: morePosts))
/// pages[id: 1]?.value.removeLast()
/// pages.remove(id: 2)
/// ```
///
/// Looking a page up, adding one at an end, replacing and removing one take time that does not grow with the number of pages
/// in practice (its logarithm to base 32), also while copies from before the change are kept: copies share what they have in
/// common.
public struct Pages<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// A page with its age.
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline var page: Page<PageID, PageValue>
    @usableFromInline var revision: Revision

    @inlinable
    init(page: Page<PageID, PageValue>, revision: Revision) {
      self.page = page
      self.revision = revision
    }
  }

  /// The pages by their places, which ascend from the first to the last and never change.
  @usableFromInline var entries = OrderedTree<Entry>()
  /// The places of pages by the hash values of their identifiers.
  @usableFromInline var places = OrderedTree<Places>()

  /// Creates a value without pages.
  @inlinable
  public init() {}

  /// Creates a value with the pages of a sequence, in its order. Of pages with one identifier the last stays, in the place of
  /// the first.
  @inlinable
  public init(_ pages: some Sequence<Page<PageID, PageValue>>) {
    for page in pages { self.append(page) }
  }
}

/// Places of pages whose identifiers have one hash value: nearly always a single one.
@usableFromInline
struct Places: Sendable {
  @usableFromInline var first: Int
  @usableFromInline var others: [Int] = []

  @inlinable
  init(_ first: Int) {
    self.first = first
  }

  @inlinable
  mutating func insert(_ place: Int) {
    self.others.append(place)
  }

  /// The places without one; nil when none is left.
  @inlinable
  func removing(_ place: Int) -> Places? {
    var remaining = [self.first] + self.others
    remaining.removeAll { $0 == place }
    guard let first = remaining.first else { return nil }
    var places = Places(first)
    places.others = Array(remaining.dropFirst())
    return places
  }
}

// MARK: - Finding

extension Pages {
  /// The page with an identifier.
  ///
  /// Setting a page puts it in the place of the one with that identifier, or at the end when there is none; setting nil
  /// removes it. A page that is set under another identifier than its own takes the place as well, and replaces the page that
  /// had its identifier.
  @inlinable
  public subscript(id id: PageID) -> Page<PageID, PageValue>? {
    get { self.entry(of: id)?.page }
    set {
      guard let newValue else {
        self.remove(id: id)
        return
      }
      guard newValue.id != id, let place = self.place(of: id) else { return self.append(newValue) }
      self.remove(id: newValue.id)
      self.unlink(id, from: place)
      self.link(newValue.id, to: place)
      self.entries[place] = Entry(page: newValue, revision: .now)
    }
  }

  /// Whether there is a page with an identifier.
  @inlinable
  public func contains(id: PageID) -> Bool { self.place(of: id) != nil }

  /// The index of the page with an identifier, if there is one.
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
  func place(of id: PageID) -> Int? {
    guard let places = self.places[id.hashValue] else { return nil }
    if self.entries[places.first]?.page.id == id { return places.first }
    return places.others.first { self.entries[$0]?.page.id == id }
  }
}

// MARK: - Adding and removing

extension Pages {
  /// Adds a page at the end. When a page with its identifier is there, it takes the place of that instead.
  @inlinable
  public mutating func append(_ page: Page<PageID, PageValue>) {
    self.insert(Entry(page: page, revision: .now), atEnd: true)
  }

  /// Adds a page at the beginning. When a page with its identifier is there, it takes the place of that instead.
  @inlinable
  public mutating func prepend(_ page: Page<PageID, PageValue>) {
    self.insert(Entry(page: page, revision: .now), atEnd: false)
  }

  /// Removes the page with an identifier, and returns it.
  @discardableResult
  @inlinable
  public mutating func remove(id: PageID) -> Page<PageID, PageValue>? {
    guard let place = self.place(of: id), let entry = self.entries[place] else { return nil }
    self.unlink(id, from: place)
    self.entries[place] = nil
    return entry.page
  }

  /// Removes all pages.
  @inlinable
  public mutating func removeAll() {
    self = Pages()
  }

  /// Puts a page in the place of the one with its identifier, or at an end when there is none.
  @inlinable
  mutating func insert(_ entry: Entry, atEnd: Bool) {
    if let place = self.place(of: entry.page.id) {
      self.entries[place] = entry
      return
    }
    let place = atEnd ? (self.entries.lastKey ?? -1) + 1 : (self.entries.firstKey ?? 1) - 1
    self.link(entry.page.id, to: place)
    self.entries[place] = entry
  }

  @inlinable
  mutating func link(_ id: PageID, to place: Int) {
    let hash = id.hashValue
    guard var places = self.places[hash] else {
      self.places[hash] = Places(place)
      return
    }
    places.insert(place)
    self.places[hash] = places
  }

  @inlinable
  mutating func unlink(_ id: PageID, from place: Int) {
    let hash = id.hashValue
    self.places[hash] = self.places[hash]?.removing(place)
  }
}
