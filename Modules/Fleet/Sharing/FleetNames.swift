internal import OperationCore
internal import OperationPersistence
internal import OperationTags

/// The texts of keys and subjects.
///
/// - A prefix of paths: `p`, and each element with a slash behind it: `psposts/i5/`.
/// - A tag: `t`, its name, and its identifier after a colon: `tpost:i5`.
/// - A key: the prefix of the whole path, the name and the version: `psposts/i5/=post=1`.
enum FleetNames {
  /// The prefix of all paths.
  static let everything = FleetSubject("p")

  /// The key of a value; nil if the path has an element without a text, or the key is too long.
  static func key(_ path: OperationPath, name: String, version: Int) -> FleetKey? {
    guard let elements = PathKey(path)?.elements else { return nil }
    var prefix = self.everything.text
    var subjects = [self.everything]
    for element in elements {
      prefix += element + "/"
      subjects.append(FleetSubject(prefix))
    }
    let text = "\(prefix)=\(PathKey.escaped(name))=\(version)"
    return text.utf8.count <= FleetLimits.keyLength ? FleetKey(text, subjects: subjects) : nil
  }

  /// The subject of an invalidation of this process; nil, with a report, for a tag that has none.
  static func subject(_ subject: InvalidationSubject) -> FleetSubject? {
    switch subject {
    // A path with an element that has no key: the prefix before it, which is more than was asked for.
    case .path(let path): self.subject(longestPrefixOf: path)
    case .tag(let tag): self.subject(ofTag: tag, reporting: true)
    // Another process has told it, which only a fleet does.
    case .tags: nil
    }
  }

  /// The subject of a path, or of the longest prefix of it that has a text.
  static func subject(longestPrefixOf path: OperationPath) -> FleetSubject {
    var text = self.everything.text
    for element in PathKey(longestPrefixOf: path).elements {
      if text.utf8.count + element.utf8.count >= FleetLimits.keyLength { break }
      text += element + "/"
    }
    return FleetSubject(text)
  }

  /// The subject of a tag; nil, with a report if that is asked for, if its identifier has no text or it is too long.
  static func subject(ofTag tag: OperationPath, reporting: Bool) -> FleetSubject? {
    guard let name = tag.first?.base as? String else { return nil }
    var text = "t" + PathKey.escaped(name)
    if let identifier = tag.dropFirst().first {
      guard let key = PathKey(OperationPath([identifier])) else {
        if reporting { PathKey.reportMissing(in: tag) }
        return nil
      }
      text += ":" + key.elements[0]
    }
    guard text.utf8.count <= FleetLimits.keyLength else {
      if reporting { OperationWarning.reportTooLong(text.utf8.count, name: name) }
      return nil
    }
    return FleetSubject(text)
  }
}

// MARK: - Reading

extension FleetNames {
  /// What a subject means in this process.
  enum Meaning {
    /// Paths that start with `path` and then with elements of the texts `rest`, which are of unknown types.
    case prefix(OperationPath, rest: [Substring])
    case tag(OperationTag)
    /// A tag with an identifier of an unknown type.
    case otherTag
    /// A subject of a later version.
    case unknown
  }

  static func meaning(of subject: FleetSubject) -> Meaning {
    let text = subject.text
    switch text.utf8.first {
    case UInt8(ascii: "p"):
      let (path, rest) = self.path(text.dropFirst())
      return .prefix(path, rest: rest)
    case UInt8(ascii: "t"):
      let parts = text.dropFirst().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      let name = PathKey.unescaped(parts[0])
      if parts.count == 1 { return .tag(OperationTag(name)) }
      guard let identifier = PathKey.element(parts[1]) else { return .otherTag }
      return OperationTag(path: [name, identifier]).map { .tag($0) } ?? .unknown
    default: return .unknown
    }
  }

  /// What a subject of another process concerns in this one, perhaps more; nil for one of a later version.
  static func invalidation(_ subject: FleetSubject, meaning: Meaning) -> InvalidationSubject? {
    switch meaning {
    case .prefix(let path, _): .path(path)
    case .tag(let tag): .tag(tag.path)
    case .otherTag: self.name(ofTag: subject).map { .tags(named: $0) }
    case .unknown: nil
    }
  }

  private static func path(_ text: Substring) -> (OperationPath, rest: [Substring]) {
    var path = OperationPath()
    let texts = text.split(separator: "/")
    for (index, text) in texts.enumerated() {
      guard let element = PathKey.element(text) else { return (path, Array(texts[index...])) }
      path.append(element)
    }
    return (path, [])
  }

  /// The name of a tag of a subject.
  static func name(ofTag subject: FleetSubject) -> String? {
    subject.text.dropFirst().split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).first
      .map { PathKey.unescaped($0) }
  }

  /// Whether a path starts with a prefix.
  static func has(_ path: OperationPath, prefix: FleetSubject) -> Bool {
    let text = PathKey(longestPrefixOf: path).elements.reduce(into: self.everything.text) { $0 += $1 + "/" }
    return text.utf8.starts(with: prefix.text.utf8)
  }
}

extension OperationWarning {
  fileprivate static func reportTooLong(_ length: Int, name: String) {
    OperationWarning(
      code: .unsharedValue,
      message: """
        A tag named "\(name.prefix(80))" has \(length) bytes, which is too long for a fleet, which takes \
        \(FleetLimits.keyLength) at most. Use a shorter identifier.
        """
    ).report()
  }
}
