extension [OperationTag] {
  /// The tags in their order, each once.
  var withoutDuplicates: [OperationTag] {
    if self.count < 2 { return self }
    if self.count <= 8 {
      var unique: [OperationTag] = []
      unique.reserveCapacity(self.count)
      for tag in self where !unique.contains(tag) { unique.append(tag) }
      return unique
    }
    var known = Set<OperationTag>(minimumCapacity: self.count)
    return self.filter { known.insert($0).inserted }
  }
}
