/// The pages of a paginated operation: in the order of their arrival at either end, each identifier once.
///
/// ```swift
/// var pages: Pages<Int, [Post]> = [Page(id: 1, value: posts)]
/// pages.append(Page(id: 2, value: morePosts))
/// pages[id: 1]?.value.removeLast()
/// pages[0].value.append(post)
/// pages.remove(id: 2)
/// ```
///
/// Looking a page up, adding one at an end, replacing and removing one take time that does not grow with the number of pages
/// in practice (its logarithm to base 16), also while copies from before the change are kept: copies share what they have in
/// common.
public struct Pages<PageID: Hashable & Sendable, PageValue: Sendable>: Sendable {
  /// A page with its age.
  @usableFromInline
  struct Entry: Sendable {
    @usableFromInline var page: Page<PageID, PageValue>
    @usableFromInline var revision: Revision
    /// When a state has taken it in, by the clock there; not a number before one has.
    @usableFromInline var time: PageTime

    @inlinable
    init(page: Page<PageID, PageValue>, revision: Revision, time: PageTime = .none) {
      self.page = page
      self.revision = revision
      self.time = time
    }
  }

  /// The pages by their places, which ascend from the first to the last and never change.
  @usableFromInline var entries = OrderedTree<Entry>()
  /// The places of pages by the hash values of their identifiers, or by the next number that was not taken.
  @usableFromInline var places = OrderedTree<Int>()

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
      self.replace(id, with: newValue)
    }
  }

  /// Puts a page in the place of the one with the identifier `id`, or at the end when there is none.
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
  func place(of id: PageID) -> Int? { self.slot(of: id).place }

  /// The key of an identifier in the table of places, and the place that is there; nil when the key is free.
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
  /// Adds a page at the end. When a page with its identifier is there, it takes the place of that instead.
  @inlinable
  public mutating func append(_ page: Page<PageID, PageValue>) {
    self.insert(Entry(page: page, revision: .now()), atEnd: true)
  }

  /// Adds a page at the beginning. When a page with its identifier is there, it takes the place of that instead.
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

  /// Puts a page in the place of the one with its identifier, or at an end when there is none.
  ///
  /// - Parameter revision: When given, a page that is newer stays.
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

  /// Frees a key in the table of places, which is taken.
  @inlinable
  mutating func free(_ key: Int) {
    self.places.removeValue(for: key)
    // Those behind may be there for want of that key.
    var key = key &+ 1
    while let place = self.places[key], let page = self.entries[place]?.page {
      self.places.removeValue(for: key)
      self.places.insert(place, for: self.slot(of: page.id).key)
      key &+= 1
    }
  }
}
