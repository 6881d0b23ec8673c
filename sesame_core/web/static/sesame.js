// What a page does beyond its links and forms.
