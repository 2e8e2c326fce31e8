#if SwiftOperationSQLite
  /// What the arguments of `operation-storage` say.
  package struct StorageCommand: Hashable, Sendable {
    package enum Action: Hashable, Sendable {
      /// Tables of names; with `entries`, a line for each entry.
      case list(entries: Bool)
      case check
      case export
      case repair
      case remove(keys: [String], names: [String])
    }

    package static let usage = """
      Shows what a storage of Swift Operation has, without the program that has stored it.

      usage: operation-storage [list] FILE [--entries] [--values]
             operation-storage check FILE
             operation-storage export FILE [--values]
             operation-storage repair FILE
             operation-storage remove FILE [--key KEY]... [--name NAME]...

      FILE is an SQLite storage, which no process may have open. Only repair and remove change it.

      list    names, counts, sizes and ages of the values, and the calls of a journal that have not ended; with --entries a
              line for each entry. It works on a damaged file.
      check   checks each page and each entry
      export  a JSON object for each entry, on a line of its own
      repair  sets a damaged file aside as FILE.damaged-1, and writes a new one with all entries that can be read
      remove  removes the entries with these keys, and the values and calls with these names

      Values and arguments are shown with --values only. Exit status: 0, or 1 if something cannot be done, 2 if check finds
      something, 64 if the arguments are wrong.

      """

    package let action: Action
    package let path: String
    /// Whether values and arguments may be shown.
    package var showsValues = false

    /// Reads the arguments; nil if they are wrong.
    package init?(_ arguments: [String]) {
      var rest = arguments[...]
      guard let first = rest.popFirst(), !first.hasPrefix("-") else { return nil }
      let isVerb = ["list", "check", "export", "repair", "remove"].contains(first) && !rest.isEmpty
      guard let path = isVerb ? rest.popFirst() : first, !path.hasPrefix("-") else { return nil }
      self.path = path
      let verb = isVerb ? first : "list"
      var (showsEntries, keys, names) = (false, [String](), [String]())
      while let option = rest.popFirst() {
        switch (verb, option) {
        case ("list", "--entries"): showsEntries = true
        case ("list", "--values"): (self.showsValues, showsEntries) = (true, true)
        case ("export", "--values"): self.showsValues = true
        case ("remove", "--key"), ("remove", "--name"):
          guard let value = rest.popFirst() else { return nil }
          if option == "--key" { keys.append(value) } else { names.append(value) }
        default: return nil
        }
      }
      switch verb {
      case "check": self.action = .check
      case "export": self.action = .export
      case "repair": self.action = .repair
      case "remove":
        if keys.isEmpty, names.isEmpty { return nil }
        self.action = .remove(keys: keys, names: names)
      default: self.action = .list(entries: showsEntries)
      }
    }
  }
#endif
