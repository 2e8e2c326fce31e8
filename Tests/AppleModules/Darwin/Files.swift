// <sys/stat.h> and <sys/statvfs.h>, each of which has a structure and a function of one name. A scoped import cannot name one of the
// two, nor can Swift declare both.
@_exported public import DarwinFiles
